"""How coefficients look: three decimals, the interval as a thin bar, and why one is undefined."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotate.agreement import Coefficient

register = template.Library()

LEFT, WIDTH = -0.2, 120.0  # the value at the bar's left edge, its width in pixels


@register.filter
def decimals(value: float | None) -> str:
    """Return a number with three decimals, a dash where there is none."""
    return "–" if value is None else f"{value:.3f}".replace("-", "−")


@register.filter
def interval(coefficient: Coefficient) -> str:
    """Return the interval in brackets, or nothing where there is none."""
    found = coefficient.interval
    return f"[{decimals(found.low)}, {decimals(found.high)}]" if found else ""


@register.filter
def percent(value: float | None) -> str:
    """Return a share in percent, a dash where there is none."""
    return "–" if value is None else f"{100 * value:.0f} %"


@register.filter
def interval_bar(coefficient: Coefficient) -> SafeString:
    """Return the value as a tick and its interval as a bar, on a scale from -0.2 to 1."""
    if coefficient.value is None:
        return SafeString("")
    found = coefficient.interval
    low, high = (found.low, found.high) if found else (coefficient.value, coefficient.value)
    return format_html(
        '<svg class="interval-bar" viewBox="0 0 120 12" width="120" height="12" aria-hidden="true">'
        '<line class="axis" x1="0" x2="120" y1="6" y2="6"/>'
        '<line class="zero" x1="{}" x2="{}" y1="2" y2="10"/>'
        '<rect x="{}" y="4" width="{}" height="4" rx="2"/><line class="tick" x1="{}" x2="{}" y1="1" y2="11"/>'
        "</svg>",
        *(_x(0), _x(0), _x(low), max(_x(high) - _x(low), 1), _x(coefficient.value), _x(coefficient.value)),
    )


def _x(value: float) -> float:
    return round(min(max((value - LEFT) / (1 - LEFT), 0), 1) * WIDTH, 1)


@register.inclusion_tag("agreement/_figure.html")
def figure(coefficient: Coefficient, *, as_percent: bool = False) -> dict[str, Coefficient | bool]:
    """Show a figure that opens how it was computed, or that and why it is undefined."""
    return {"coefficient": coefficient, "as_percent": as_percent}


@register.inclusion_tag("agreement/_computed.html")
def computed(coefficient: Coefficient) -> dict[str, Coefficient]:
    """Say how a figure was computed, on demand."""
    return {"coefficient": coefficient}
