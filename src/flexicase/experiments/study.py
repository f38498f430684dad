"""The folder of a study: where everything lies."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

from flexicase._files import FileLock

LEDGER, ROWS = "ledger.sqlite", "rows"


@dataclass(frozen=True)
class Study:
    """A study's folder.

    Attributes:
        folder: The folder: ``ledger.sqlite``, ``rows/`` with a Parquet file per finished run, and while runs are
            going on ``saves/`` and ``logs/``.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.experiments import Study
        >>> Study(Path("studies/tiny")).rows("0123456789abcdef").as_posix()
        'studies/tiny/rows/0123456789abcdef.parquet'
    """

    folder: Path

    @property
    def ledger(self) -> Path:
        """The SQLite file."""
        return self.folder / LEDGER

    @property
    def exists(self) -> bool:
        """Whether there is a ledger."""
        return self.ledger.exists()

    def rows(self, run_id: str) -> Path:
        """The Parquet file of a run."""
        return self.folder / ROWS / f"{run_id}.parquet"

    def save(self, run_id: str) -> Path:
        """The folder from which an interrupted run goes on."""
        return self.folder / "saves" / run_id

    def log(self, run_id: str) -> Path:
        """What a run has printed."""
        return self.folder / "logs" / f"{run_id}.log"

    def make_folders(self) -> None:
        """Make the folders that are not there yet."""
        for name in (ROWS, "saves", "logs"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def lock(self) -> FileLock:
        """The lock of the one process that may write to the ledger."""
        return FileLock(self.folder / "lock", f"study {self.folder.name!r}")


def studies_in(root: Path) -> list[Study]:
    """The studies below a folder, by name; none if there is no such folder.

    Raises:
        NotADirectoryError: It is a file.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.experiments import studies_in
        >>> studies_in(Path("no-such-folder"))
        []
    """
    if root.exists() and not root.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(root))
    return [Study(path.parent) for path in sorted(root.glob(f"*/{LEDGER}"))]
