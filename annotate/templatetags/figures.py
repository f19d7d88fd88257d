"""Format of coefficients: three decimals, the interval in brackets, a dash for undefined."""

from django import template

from agreement import Coefficient
from annotate.results.table import Column, ColumnKind
from annotate.results.text import number

register = template.Library()


@register.filter
def decimals(value: float | None) -> str:
    """Return a number with three decimals, a dash if undefined."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


@register.filter
def p_value(value: float) -> str:
    """Return a p value as the files of the same table have it, "< 0.001" below that."""
    return number(value, Column("p_value", "p", ColumnKind.P_VALUE))


@register.filter
def interval(coefficient: Coefficient) -> str:
    found = coefficient.interval
    return f"[{decimals(found.low)}, {decimals(found.high)}]" if found else ""


@register.filter
def format_signed(value: float) -> str:
    """Return a difference with two decimals and its sign."""
    return f"{value:+.2f}".replace("-", "−")


@register.filter
def percent(value: float | None) -> str:
    """Return a share in percent, a dash if undefined."""
    return "–" if value is None else f"{100 * value:.0f} %"
