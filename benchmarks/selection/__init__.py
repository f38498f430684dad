"""The speed of selection beside other libraries; run it with ``python benchmarks/selection``."""
