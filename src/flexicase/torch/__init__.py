"""Gradient lexicase and fast gradient lexicase selection for PyTorch. Needs ``pip install 'flexicase[torch]'``."""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("flexicase.torch needs PyTorch: pip install 'flexicase[torch]'") from error

from flexicase.torch import data
from flexicase.torch.augment import PadCropFlip
from flexicase.torch.errors import CandidateErrors
from flexicase.torch.gradient import GradientLexicase
from flexicase.torch.models import vgg
from flexicase.torch.records import Generation
from flexicase.torch.training import TrainingError, constant, cosine

__all__ = [
    "CandidateErrors",
    "Generation",
    "GradientLexicase",
    "PadCropFlip",
    "TrainingError",
    "constant",
    "cosine",
    "data",
    "vgg",
]
