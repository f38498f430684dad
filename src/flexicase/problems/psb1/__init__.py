"""The problems that come with the package, one module each."""
