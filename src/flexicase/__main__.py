"""``python -m flexicase``: the command line."""

from flexicase.cli import main

if __name__ == "__main__":
    main()
