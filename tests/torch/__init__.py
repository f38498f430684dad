"""Tests of gradient lexicase; they are skipped where PyTorch is not installed."""
