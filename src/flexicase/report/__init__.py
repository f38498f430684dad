"""Tables, tests and figures of finished studies."""

from flexicase.report._image_claims import image_claims
from flexicase.report.claims import Claim, claims
from flexicase.report.figures import draw_figures
from flexicase.report.statistics import fisher_exact, holm, kaplan_meier, wilson, z_test
from flexicase.report.write import Report, write_report

__all__ = [
    "Claim",
    "Report",
    "claims",
    "draw_figures",
    "fisher_exact",
    "holm",
    "image_claims",
    "kaplan_meier",
    "wilson",
    "write_report",
    "z_test",
]
