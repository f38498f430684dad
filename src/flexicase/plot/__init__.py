"""Pictures of selections, runs and trainings. Needs matplotlib, which is imported when a picture is drawn."""

from flexicase.plot._runs import run_picture, training_picture
from flexicase.plot._selection import case_weights, evaluations, funnel

__all__ = ["case_weights", "evaluations", "funnel", "run_picture", "training_picture"]
