"""Common columns of tables about judges, and cells of estimates and of possibly missing values."""

from django.utils.translation import gettext, gettext_lazy

from agreement import PairedDifference
from agreement.reliability import Estimate
from annotate.results.table import Cell, Column, ColumnKind, text

JUDGE = Column("judge", lambda: gettext("Judge"), ColumnKind.TEXT)
SYSTEM = Column("system", lambda: gettext("System"), ColumnKind.TEXT)
ABOUT_INTERVALS_OF_M = gettext_lazy(
    "Intervals of M resample documents and are about the expected M of this number of documents. "
    "Correlations of few items vary by chance, which biases M towards 0; no interval corrects for this."
)


def estimate_cell(estimate: Estimate) -> Cell:
    """Return a mean, or a difference of means, as a cell; its count is of ratings."""
    found = estimate.interval
    how = f"{estimate.label} (function {estimate.name}); source: {estimate.source}"
    if found:
        how += f"; {100 * found.confidence_level:g} % interval: {found.method}"
    return Cell(
        value=estimate.value,
        low=found.low if found else None,
        high=found.high if found else None,
        interval_reason=(estimate.interval_reason or "") if estimate.value is not None else "",
        count=estimate.ratings,
        reason=estimate.reason or "",
        how=f"{how}.",
    )


def difference_cell(found: PairedDifference | None, what: str, *, nothing: str = "") -> Cell:
    """Return a paired difference as a cell; its count is of documents (systems).

    what: the compared quantity, and the function that computes it. nothing: the reason for a missing
    difference.
    """
    if found is None:
        return Cell(reason=nothing)
    return Cell(
        found.value,
        low=found.low,
        high=found.high,
        count=found.size,
        reason=found.reason if found.value is None else "",
        interval_reason=found.reason if found.value is not None else "",
        how=f"{what}; {found.how}." if found.how else "",
    )


def number_or_reason(value: float | None, reason: str, how: str = "") -> Cell:
    return Cell(value, reason=reason if value is None else "", how=how)


def yes_or_no(said: bool) -> Cell:
    return text(gettext("yes") if said else gettext("no"))
