"""PyTorch without ``torch._dynamo``: its import takes two seconds of a process, and only compiled networks need it.

Processes that tests start import this module first; run as a script, it is the command ``flexicase``.
"""

from __future__ import annotations

import sys
from unittest.mock import MagicMock

import torch

torch._dynamo = sys.modules["torch._dynamo"] = MagicMock(disable=lambda function, *_, **__: function)

if __name__ == "__main__":
    from flexicase.cli import main

    sys.argv[0] = "flexicase"
    main()
