"""Contrasts of the stylesheets' colours, by the formula of WCAG 2.2, in every theme."""

import re
from itertools import product
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "static"
PAIR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)")
GROUNDS = ("paper", "panel", "wash")
TEXTS = [
    *product(("ink", "soft", "accent", "good", "warn", "bad"), GROUNDS),
    *product(("ink", "accent"), ("accent-wash", "warn-wash", "bad-wash")),
    *(
        ("ink", "mark"),
        ("good", "good-wash"),
        ("accent", "accent-wash"),
        ("warn", "warn-wash"),
        ("bad", "bad-wash"),
        ("accent-ink", "accent"),
        ("soft", "accent-wash"),
    ),
]
PLOTS = tuple(f"series-{number}" for number in range(1, 7))
# Of controls, of what has the focus, and what plots are drawn with.
EDGES = [
    *product(("control", "accent"), GROUNDS),
    ("accent", "accent-wash"),
    *((each, "panel") for each in PLOTS),
]


def colours_of(*names: str) -> list[dict[str, str]]:
    """Return the colours of the light and the dark theme, the later stylesheet over the earlier."""
    found = [each for name in names for each in PAIR.findall((STATIC / name).read_text())]
    return [{colour: pair[theme] for colour, *pair in found} for theme in (0, 1)]


NORMAL, HIGH = ("concord.css",), ("concord.css", "contrast.css")
THEMES = [
    *((each, 4.5, 3.0) for each in colours_of(*NORMAL)),
    *((each, 7.0, 4.5) for each in colours_of(*HIGH)),
]
IDS = ["light", "dark", "high contrast, light", "high contrast, dark"]


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb, from 0 to 1."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in shares]
    return sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_formula_gives_the_values_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)
    assert contrast("#1f5f80", "#1f5f80") == 1


@pytest.mark.parametrize(("colours", "least", "least_of_edges"), THEMES, ids=IDS)
def test_words_and_edges_have_enough_contrast(
    colours: dict[str, str], least: float, least_of_edges: float
) -> None:
    asked = [*((pair, least) for pair in TEXTS), *((pair, least_of_edges) for pair in EDGES)]
    measured = {
        pair: (round(contrast(*(colours[each] for each in pair)), 2), asked_of) for pair, asked_of in asked
    }
    assert not {pair: found for pair, found in measured.items() if found[0] < found[1]}


def test_high_contrast_changes_every_colour() -> None:
    for normal, high in zip(colours_of(*NORMAL), colours_of("contrast.css"), strict=True):
        assert normal.keys() == high.keys()
