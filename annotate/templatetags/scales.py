"""How values of a scale are written: a category by its name, an amount by its number."""

from django import template

from annotate.core.guideline import FrozenDimension
from annotate.core.models import Dimension
from annotate.core.scale import normalize
from annotate.core.scale_text import extent as extent_of
from annotate.core.scale_text import name_on_page

register = template.Library()


@register.filter
def value_name(value: float | None, dimension: FrozenDimension) -> str:
    """Return what a page calls a value of a dimension, a dash where there is none."""
    return "–" if value is None else name_on_page(dimension, normalize(value))


@register.filter
def extent(dimension: Dimension | FrozenDimension) -> str:
    """Return the ends of a dimension's scale, and its steps where they are no whole points."""
    return extent_of(dimension.scale_minimum, dimension.scale_maximum, dimension.scale_step)


@register.filter
def plural_number(value: float) -> int:
    """Return a whole number whose plural a number has: languages have none for 1.5."""
    return int(value) if value == int(value) else 2
