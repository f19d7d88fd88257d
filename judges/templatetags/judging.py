"""Formats of money, time and counts of judges; unknown values show as unknown, never 0."""

from decimal import Decimal

from django import template
from django.conf import settings
from django.contrib.humanize.templatetags.humanize import intcomma

from judges.core.models import Batch

register = template.Library()

UNKNOWN = "unknown"


@register.filter
def money(amount: Decimal | None) -> str:
    """Return an amount with its currency: two digits, or the number of digits that shows it is not 0."""
    if amount is None:
        return UNKNOWN
    if amount == 0 or amount >= Decimal("0.1"):
        return f"{intcomma(f'{amount:.2f}')} {settings.CURRENCY}"
    # `adjusted` is the exponent of the first digit, so two significant digits remain.
    return f"{amount:.{1 - amount.adjusted()}f} {settings.CURRENCY}"


@register.simple_tag
def currency() -> str:
    code: str = settings.CURRENCY
    return code


@register.filter
def price(amount: Decimal | None) -> str:
    """Return a price without needless zeros."""
    # `normalize` may return an exponent, as 1E+1, which `f` writes out.
    return UNKNOWN if amount is None else f"{amount.normalize():f}"


@register.filter("counted")
def amount(number: float | None) -> str:
    return UNKNOWN if number is None else str(intcomma(round(number)))


@register.filter
def duration(seconds: float | None) -> str:
    """Return a duration in everyday units: 40 s, 12 min, 3 h 20 min."""
    if seconds is None:
        return UNKNOWN
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


@register.filter
def pace(per_second: float | None) -> str:
    """Return a pace: per second, or per minute if it is slow."""
    if not per_second:
        return "–"
    return f"{per_second:.1f} a second" if per_second >= 1 else f"{60 * per_second:.0f} a minute"


@register.filter
def batch_state(batch: Batch) -> str:
    """Return the progress of a batch, with the provider's count while it is processed."""
    if batch.status == Batch.Status.IN_PROGRESS:
        ended = batch.completed + batch.failed
        return f"{batch.get_status_display()}, {amount(ended)} of {amount(batch.requests)}"
    return batch.get_status_display()
