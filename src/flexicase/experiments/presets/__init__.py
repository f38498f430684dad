"""The studies that come with flexicase, one TOML file each."""

from __future__ import annotations

from pathlib import Path

from flexicase.checks import check_choice

PRESETS = ("smoke", "laptop", "paper")
TARGETS = {"table2": "gp", "fig1": "gp", "fig2": "gp", "fig3": "image", "fig4": "image", "table3": "image"}


def preset_path(study: str, preset: str) -> Path:
    """The TOML file of a study that comes with flexicase.

    Args:
        study: ``"gp"``: the paper's five methods on Mirror Image and Last Index of Zero; ``"image"``: gradient lexicase
            and its fast variants on images, digits up to the laptop, CIFAR-10 in the paper's; ``"cifar"``: the same on
            a part of CIFAR-10 with a small network, for the laptop.
        preset: Its size: ``"smoke"``, ``"laptop"`` or ``"paper"``.

    Example:
        >>> from flexicase.experiments import preset_path
        >>> preset_path("gp", "paper").name
        'gp-paper.toml'
    """
    check_choice(study, "study", (*dict.fromkeys(TARGETS.values()), "cifar"))
    check_choice(preset, "preset", ("laptop",) if study == "cifar" else PRESETS)
    return Path(__file__).parent / f"{study}-{preset}.toml"
