"""How values of a scale are written: a category by its name, an amount by its number."""

from django import template

from annotate.core.guideline import FrozenDimension

register = template.Library()


@register.filter
def value_name(value: float | None, dimension: FrozenDimension) -> str:
    """Return what a page calls a value of a dimension, a dash where there is none."""
    return "–" if value is None else dimension.name_of(int(value))
