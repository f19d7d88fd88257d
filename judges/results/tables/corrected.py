"""How many judgments that a person corrected a page's figures leave out, where that was chosen."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from django.db.models import Count

from annotate.results.page import Section
from annotate.results.registry import Chosen
from judges.core.models import Judge, Judgment
from judges.results.tables.parameters import counts_corrected

NOTHING_LEFT_OUT = "No judgment with a value was corrected by a person, so none is left out."


def with_count_of_corrected(
    sections: Sequence[Section], judges: Collection[Judge], chosen: Chosen
) -> list[Section]:
    """Return sections, the first saying what these judges leave out. One query, none where all counts."""
    if counts_corrected(chosen):
        return list(sections)
    first, *others = sections
    return [replace(first, says=f"{_count_sentence(judges)} {first.says}".strip()), *others]


def _count_sentence(judges: Collection[Judge]) -> str:
    # Excluded judgments have no value and count on no page, whatever is chosen.
    left_out = Judgment.objects.filter(judge__in=judges, is_corrected=True, status=Judgment.Status.DONE)
    counts = dict(left_out.values_list("judge__name").annotate(Count("pk")).order_by("judge__name"))
    if not counts:
        return NOTHING_LEFT_OUT
    number = sum(counts.values())
    by_judge = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return f"Without {number:,} judgment{'' if number == 1 else 's'} that a person corrected ({by_judge})."
