"""Scales and their values as pages and messages write them, in the reader's language."""

from django.utils.formats import localize
from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension


def extent(lowest: int, highest: int, step: float) -> str:
    """Return "1 to 5", or "1 to 5 in steps of 0.5", in the reader's language."""
    if step == 1:
        return gettext("{low} to {high}").format(low=lowest, high=highest)
    return gettext("{low} to {high} in steps of {step}").format(
        low=lowest, high=highest, step=format_value(step)
    )


def off_scale_sentence(name: str, value: float | str, lowest: int, highest: int, step: float) -> str:
    if step == 1:
        return gettext("{name} is rated from {low} to {high}; {value} is not on this scale.").format(
            name=name, low=lowest, high=highest, value=format_value(value)
        )
    return gettext(
        "{name} is rated from {low} to {high} in steps of {step}; {value} is not on this scale."
    ).format(name=name, low=lowest, high=highest, step=format_value(step), value=format_value(value))


def format_value(value: float | str) -> str:
    """Return a value as pages write it in the reader's language: 3, 3.5 or 3,5; strings unchanged."""
    return str(localize(value))


def name_on_page(dimension: FrozenDimension, value: float) -> str:
    """Return the name of a value on pages: the label of a category, the number of an amount."""
    return dimension.name_of(value) if dimension.is_named else format_value(value)
