"""How money, time and counts of judges look; what is unknown is called unknown, never 0."""

from decimal import Decimal

from django import template
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from judges.core.models import Batch
from judges.runs.queries.runs import RunProgress

register = template.Library()

UNKNOWN = "unknown"


@register.filter
def money(amount: Decimal | None) -> str:
    """Return an amount in the currency of the prices: two digits, or as many as show that it is not 0."""
    if amount is None:
        return UNKNOWN
    if amount == 0 or amount >= Decimal("0.1"):
        return str(intcomma(f"{amount:.2f}"))
    return f"{amount:.{1 - amount.adjusted()}f}"


@register.filter
def price(amount: Decimal | None) -> str:
    """Return a price without needless zeros."""
    return UNKNOWN if amount is None else f"{amount.normalize():f}"


@register.filter
def counted(number: float | None) -> str:
    """Return a count with separators."""
    return UNKNOWN if number is None else str(intcomma(round(number)))


@register.filter
def duration(seconds: float | None) -> str:
    """Return a time as a person says it: 40 s, 12 min, 3 h 20 min."""
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
    """Return a pace: by the second, or by the minute where that is slow."""
    if not per_second:
        return "–"
    return f"{per_second:.1f} a second" if per_second >= 1 else f"{60 * per_second:.0f} a minute"


@register.filter
def batch_state(batch: Batch) -> str:
    """Return how far a batch is, with the provider's count while it works on it."""
    if batch.status == Batch.Status.IN_PROGRESS:
        ended = batch.completed + batch.failed
        return f"{batch.get_status_display()}, {counted(ended)} of {counted(batch.requests)}"
    return batch.get_status_display()


@register.filter
def run_bar(progress: RunProgress) -> SafeString:
    """Return how far a run is as a bar: done, unreadable, failed, in flight, and what is left."""
    parts = [(name, getattr(progress, name)) for name in ("done", "unreadable", "failed", "in_flight")]
    total, left, rects = max(progress.total, 1), 0.0, []
    for name, count in parts:
        width = 100 * count / total
        rects.append((f"{left:.3f}", f"{width:.3f}", f"judge-bar-{name}"))
        left += width
    inside = format_html_join("", '<rect x="{}" width="{}" height="1" class="{}"/>', rects)
    return format_html(
        '<svg class="judge-bar" viewBox="0 0 100 1" preserveAspectRatio="none" role="img" '
        'aria-label="{} of {} judgments have ended">{}</svg>',
        progress.ended,
        progress.total,
        inside,
    )
