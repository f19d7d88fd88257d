"""Common columns of tables about judges, and cells of estimates and of possibly missing values.

Also the number of replies with a value, if a page's statistics exclude more than a few.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext, gettext_lazy, ngettext

from agreement import PairedDifference
from agreement.reliability import Estimate
from annotate.core.models import GoldItem, Project
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text
from judges.core.material import has_other_kinds
from judges.core.models import DevelopmentDocument, Judge, Judgment
from judges.results.tables.parameters import counts_corrected

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
        # A missing value has its own reason, which covers the interval.
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


FEW_UNREAD = 0.01
"""The share of replies without a value up to which results have no warning."""

_Status = Judgment.Status
_READ = Q(status=_Status.DONE)
_ASKED = Q(status__in=[_Status.DONE, _Status.UNREADABLE, _Status.FAILED])


def warning_of_gaps(judge: str, dimension: str, asked: int, read: int) -> str:
    if asked - read <= FEW_UNREAD * asked:
        return ""
    return gettext("{judge} on {dimension}: {read:,} of {asked:,} read; results exclude the others.").format(
        judge=judge, dimension=dimension, read=read, asked=asked
    )


def add_gaps(
    sections: Sequence[Section], judges: Iterable[Judge], chosen: Chosen, *, only_unread: bool = False
) -> list[Section]:
    """Return sections, the first with a table of these judges' gaps if there are any. One query.

    If corrected judgments are excluded, they are gaps, too. only_unread: include only dimensions without any
    value of a judge, for pages that warn next to its other statistics.
    """
    first, *others = sections
    counts = _count_values(judges, with_corrected=counts_corrected(chosen))
    rows = []
    for _, name, key, dimension, asked, read in counts:
        warning = warning_of_gaps(name, dimension, asked, read)
        if warning and not (only_unread and read):
            names = [text(name, warning=warning), text(dimension, key=key)]
            rows.append([*names, Cell(read), Cell(asked)])
    if not rows:
        return [first, *others]
    columns = [
        JUDGE,
        DIMENSION,
        Column("read", gettext("items with a value"), ColumnKind.COUNT),
        Column("asked", gettext("items asked about"), ColumnKind.COUNT),
    ]
    table = Table("gaps", gettext("Replies without a value"), columns, rows, heads=2)
    return [replace(first, tables=[table, *first.tables]), *others]


def count_judged(judges: Iterable[Judge], chosen: Chosen) -> dict[tuple[int, str], tuple[int, int]]:
    """Return the judged items and those with values that count, by judge and dimension. One query."""
    counts = _count_values(judges, with_corrected=counts_corrected(chosen))
    return {(judge, key): (asked, read) for judge, _, key, _, asked, read in counts}


def _count_values(judges: Iterable[Judge], *, with_corrected: bool) -> Sequence[tuple[Any, ...]]:
    """Return id and name of judges, key and name of dimensions, and the items asked about and read."""
    # Excluded corrections count as gaps, so the warning covers them too.
    read = _READ if with_corrected else _READ & Q(is_corrected=False)
    # Results exclude an addition's bridging items, so these are no gaps.
    bridging = GoldItem.objects.filter(bridging__isnull=False).values("item")
    own = Judgment.objects.filter(judge__in=list(judges), other__isnull=True).exclude(item__in=bridging)
    named = own.values_list("judge", "judge__name", "dimension__key", "dimension__name")
    # Items and not samples: one sample with a value is enough for the item.
    counted = named.annotate(
        asked=Count("item", distinct=True, filter=_ASKED), read=Count("item", distinct=True, filter=read)
    )
    return list(counted.order_by("judge__name", "dimension__position"))


NOTHING_LEFT_OUT = gettext_lazy("No judgment with a value was corrected by a person, so all are included.")


def add_correction_count(
    sections: Sequence[Section], judges: Collection[Judge], chosen: Chosen
) -> list[Section]:
    """Return sections, the first with the number excluded for these judges. Two queries, one if all count."""
    first, *others = sections
    left_out = []
    if not counts_corrected(chosen):
        # Excluded judgments have no value and count on no page, whatever is chosen.
        done = Judgment.objects.filter(judge__in=judges, is_corrected=True, status=Judgment.Status.DONE)
        counts = dict(done.values_list("judge__name").annotate(Count("pk")).order_by("judge__name"))
        number = sum(counts.values())
        by_judge = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        message = ngettext(
            "Without {count:,} judgment that a person corrected ({by_judge}).",
            "Without {count:,} judgments that a person corrected ({by_judge}).",
            number,
        ).format(count=number, by_judge=by_judge)
        left_out.append(message if number else str(NOTHING_LEFT_OUT))
    # The message is about the project, so the first judge is enough.
    left_out += [sentence for judge in list(judges)[:1] if (sentence := sentence_of_development(judge))]
    return [replace(first, says=" ".join([*left_out, first.says]).strip()), *others]


def explain_excluded_kinds(sections: Sequence[Section], project: Project, reason: str) -> list[Section]:
    """Return sections; the first says why questions of other kinds are excluded, if there are any."""
    if not sections or not has_other_kinds(project):
        return list(sections)
    first, *others = sections
    return [replace(first, says=f"{first.says} {reason}".strip()), *others]


def add_caveats(
    sections: Sequence[Section],
    project: Project,
    judges: Sequence[Judge],
    chosen: Chosen,
    *,
    scales_only: str,
) -> list[Section]:
    """Return sections with what their statistics exclude: other questions, gaps and corrected judgments."""
    sections = add_gaps(explain_excluded_kinds(sections, project, scales_only), judges, chosen)
    return add_correction_count(sections, judges, chosen)


def sentence_of_development(judge: Judge) -> str:
    """Return the number of documents that judges may learn from, in words, or empty. One query."""
    drawn = DevelopmentDocument.objects.filter(document__project=judge.project_id).count()
    if not drawn:
        return ""
    return ngettext(
        "Without people’s values of {count:,} document used for development.",
        "Without people’s values of {count:,} documents used for development.",
        drawn,
    ).format(count=drawn)
