"""``python -m flexicase``: the command line."""

import sys

if __name__ == "__main__":
    if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
        sys.path.append(sys.path.pop(0))  # the current folder, put first by -m: its files shall replace no library

    from flexicase.cli import main

    main()
