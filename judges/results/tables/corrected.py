"""How many judgments that a person corrected a page's figures leave out, where that was chosen."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from django.db.models import Count

from annotate.results.page import Section
from annotate.results.registry import Chosen
from judges.core.models import DevelopmentDocument, Judge, Judgment
from judges.results.tables.parameters import counts_corrected

NOTHING_LEFT_OUT = "No judgment with a value was corrected by a person, so all are included."


def with_count_of_corrected(
    sections: Sequence[Section], judges: Collection[Judge], chosen: Chosen
) -> list[Section]:
    """Return sections, the first saying what these judges leave out. Two queries, one where all counts."""
    first, *others = sections
    left_out = [] if counts_corrected(chosen) else [_count_sentence(judges)]
    left_out += [sentence for judge in list(judges)[:1] if (sentence := sentence_of_development(judge))]
    return [replace(first, says=" ".join([*left_out, first.says]).strip()), *others]


def sentence_of_development(judge: Judge) -> str:
    """Return how many documents figures leave out, as judges may learn from them, or nothing. One query."""
    drawn = DevelopmentDocument.objects.filter(document__project=judge.project_id).count()
    if not drawn:
        return ""
    return f"Without people’s values of {drawn:,} document{'' if drawn == 1 else 's'} used for development."


def _count_sentence(judges: Collection[Judge]) -> str:
    # Excluded judgments have no value and count on no page, whatever is chosen.
    left_out = Judgment.objects.filter(judge__in=judges, is_corrected=True, status=Judgment.Status.DONE)
    counts = dict(left_out.values_list("judge__name").annotate(Count("pk")).order_by("judge__name"))
    if not counts:
        return NOTHING_LEFT_OUT
    number = sum(counts.values())
    by_judge = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return f"Without {number:,} judgment{'' if number == 1 else 's'} that a person corrected ({by_judge})."
