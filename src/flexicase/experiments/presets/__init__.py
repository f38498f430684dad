"""The studies that come with flexicase, one TOML file each."""

from __future__ import annotations

from pathlib import Path

from flexicase._checks import check_choice

PRESETS = ("smoke", "laptop", "paper")
#: The studies behind each table and figure of the paper, and those beyond it.
TARGETS = {
    **dict.fromkeys(("table2", "fig1", "fig2"), ("gp",)),
    **dict.fromkeys(("fig3", "fig4", "table3"), ("image",)),
    "beyond": ("fast",),
}
#: The default targets.
PAPER_TARGETS = ("table2", "fig1", "fig2", "fig3", "fig4", "table3")
STUDIES = ("gp", "image", "fast")


def preset_path(study: str, preset: str) -> Path:
    """The TOML file of a preset study.

    Args:
        study: ``"gp"``: the paper's five methods on Mirror Image and Last Index of Zero; ``"image"``: gradient lexicase
            and its fast variants on images, digits up to the laptop, CIFAR-10 in the paper's; ``"fast"``: partial
            evaluation with few and with many selections per generation, on the paper's two problems.
        preset: Its size: ``"smoke"``, ``"laptop"`` or ``"paper"``.

    Example:
        >>> from flexicase.experiments import preset_path
        >>> preset_path("gp", "paper").name
        'gp-paper.toml'
    """
    check_choice(study, "study", STUDIES)
    check_choice(preset, "preset", PRESETS)
    return Path(__file__).parent / f"{study}-{preset}.toml"
