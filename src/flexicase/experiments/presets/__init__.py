"""The studies that come with flexicase, one TOML file each."""

from __future__ import annotations

from pathlib import Path

from flexicase._checks import check_choice

PRESETS = ("smoke", "laptop", "paper")
#: The studies behind each table and figure of the paper, and those beyond it.
TARGETS = {
    **dict.fromkeys(("table2", "fig1", "fig2"), ("gp",)),
    **dict.fromkeys(("fig3", "fig4", "table3"), ("image",)),
    "beyond": ("fast", "more"),
}
#: The default targets.
PAPER_TARGETS = ("table2", "fig1", "fig2", "fig3", "fig4", "table3")
STUDIES = ("gp", "image", "cifar", "fast", "more")


def preset_path(study: str, preset: str) -> Path:
    """The TOML file of a preset study.

    Args:
        study: ``"gp"``: the paper's five methods on Mirror Image and Last Index of Zero; ``"image"``: gradient lexicase
            and its fast variants on images, digits up to the laptop, CIFAR-10 in the paper's; ``"cifar"``: the same on
            a part of CIFAR-10, for the laptop; ``"fast"``: partial evaluation with few and with many selections per
            generation; ``"more"``: the paper's five methods on two other problems.
        preset: Its size: ``"smoke"``, ``"laptop"`` or ``"paper"``.

    Example:
        >>> from flexicase.experiments import preset_path
        >>> preset_path("gp", "paper").name
        'gp-paper.toml'
    """
    check_choice(study, "study", STUDIES)
    check_choice(preset, "preset", ("laptop",) if study == "cifar" else PRESETS)
    return Path(__file__).parent / f"{study}-{preset}.toml"
