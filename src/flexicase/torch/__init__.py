"""Gradient lexicase and fast gradient lexicase selection for PyTorch. Needs ``pip install 'flexicase[torch]'``."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("flexicase.torch needs PyTorch: pip install 'flexicase[torch]'") from error

from flexicase.torch import data
from flexicase.torch._evaluation import CandidateErrors
from flexicase.torch._training import TrainingError, constant, cosine
from flexicase.torch.data import PadCropFlip
from flexicase.torch.gradient_lexicase import GradientLexicase
from flexicase.torch.models import vgg
from flexicase.torch.records import TrainingRecord

__all__ = [
    "CandidateErrors",
    "GradientLexicase",
    "PadCropFlip",
    "TrainingError",
    "TrainingRecord",
    "constant",
    "cosine",
    "data",
    "vgg",
]
