"""Parent selection on error matrices."""
