"""The errors of candidates that live on several ranks: what selection asks for in a distributed job."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from flexicase.torch.errors import CandidateErrors, wrong

if TYPE_CHECKING:
    from flexicase.torch.distributed import Ranks


class RankErrors:
    """Evaluates candidates that live on several ranks: a `CaseEvaluator`, called with the same blocks on all of them.

    Errors that are right or wrong travel as bits, others as float64.

    Args:
        evaluate: Gives the errors of this rank's candidates.
        ranks: The job.

    Example:
        >>> import numpy as np
        >>> import torch
        >>> import torch.distributed as dist
        >>> from flexicase.torch.cases import Cases
        >>> from flexicase.torch.distributed import Ranks
        >>> from flexicase.torch.errors import CandidateErrors
        >>> from flexicase.torch.rank_errors import RankErrors
        >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        >>> data = torch.utils.data.TensorDataset(torch.eye(3), torch.tensor([0, 1, 0]))
        >>> local = CandidateErrors([torch.nn.Identity()], Cases(data, torch.device("cpu"), name="data"))
        >>> RankErrors(local, Ranks())(np.array([0]), np.array([2, 0])).tolist()
        [[1.0, 0.0]]
        >>> dist.destroy_process_group()
    """

    def __init__(self, evaluate: CandidateErrors, ranks: Ranks) -> None:
        """Nothing is evaluated yet."""
        self.calls = 0
        self._evaluate = evaluate
        self._ranks = ranks
        self._as_bits = evaluate.error_fn is wrong

    def __call__(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[Any]:
        """The (m, b) errors of (m,) candidates on (b,) cases."""
        owners = individuals % self._ranks.world_size
        shape = (int(np.bincount(owners).max()), len(cases))
        errors, failure = np.zeros(shape), None
        mine, before = individuals[owners == self._ranks.rank], self._evaluate.calls
        try:
            if len(mine):
                errors[: len(mine)] = self._evaluate(mine, cases)
        except Exception as error:
            failure = error
        asked = zlib.crc32(cases.tobytes(), zlib.crc32(individuals.tobytes()))
        header = np.array([failure is not None, asked, self._evaluate.calls - before], np.int64)
        told = self._ranks.gather_bytes(np.concatenate([header.view(np.uint8), self._packed(errors)]))
        headers = np.array([part[: header.nbytes].view(np.int64) for part in told])
        if headers[:, 0].any():
            raise self._ranks.failures(failure)
        if (headers[:, 1] != asked).any():
            raise RuntimeError("the ranks have come apart: selection asks for other cases on one than on another")
        self.calls += int(headers[:, 2].sum())
        found = np.empty((len(individuals), len(cases)))
        for rank, part in enumerate(told):
            here = owners == rank
            found[here] = self._unpacked(part[header.nbytes :], shape)[: here.sum()]
        return found

    def _packed(self, errors: NDArray[np.float64]) -> NDArray[np.uint8]:
        return np.packbits(errors != 0) if self._as_bits else errors.reshape(-1).view(np.uint8)

    def _unpacked(self, content: NDArray[np.uint8], shape: tuple[int, int]) -> NDArray[Any]:
        if self._as_bits:
            return np.unpackbits(content, count=shape[0] * shape[1]).reshape(shape)
        return content.view(np.float64).reshape(shape)
