"""Tables, tests and figures of finished studies."""

from flexicase.report.claims import Claim, claims, image_claims
from flexicase.report.curves import Curve, mean_curve
from flexicase.report.figures import draw_figures
from flexicase.report.images import EvaluationRatio, image_sections
from flexicase.report.paper import paper_order
from flexicase.report.programs import program_sections
from flexicase.report.sections import Chart, Section, Table
from flexicase.report.statistics import fisher_exact, holm, kaplan_meier, wilson, z_test
from flexicase.report.successes import SuccessRate, success_table
from flexicase.report.variants import variant_sections
from flexicase.report.write import Report, write_report

__all__ = [
    "Chart",
    "Claim",
    "Curve",
    "EvaluationRatio",
    "Report",
    "Section",
    "SuccessRate",
    "Table",
    "claims",
    "draw_figures",
    "fisher_exact",
    "holm",
    "image_claims",
    "image_sections",
    "kaplan_meier",
    "mean_curve",
    "paper_order",
    "program_sections",
    "success_table",
    "variant_sections",
    "wilson",
    "write_report",
    "z_test",
]
