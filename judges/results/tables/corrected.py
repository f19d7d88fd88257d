"""The number of corrected judgments excluded from a page's statistics, if that was selected."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from django.db.models import Count
from django.utils.translation import gettext_lazy, ngettext

from annotate.results.page import Section
from annotate.results.registry import Chosen
from judges.core.models import DevelopmentDocument, Judge, Judgment
from judges.results.tables.parameters import counts_corrected

NOTHING_LEFT_OUT = gettext_lazy("No judgment with a value was corrected by a person, so all are included.")


def add_correction_count(
    sections: Sequence[Section], judges: Collection[Judge], chosen: Chosen
) -> list[Section]:
    """Return sections, the first with the number excluded for these judges. Two queries, one if all count."""
    first, *others = sections
    left_out = [] if counts_corrected(chosen) else [_count_sentence(judges)]
    left_out += [sentence for judge in list(judges)[:1] if (sentence := sentence_of_development(judge))]
    return [replace(first, says=" ".join([*left_out, first.says]).strip()), *others]


def sentence_of_development(judge: Judge) -> str:
    """Return a message on the number of documents excluded because judges may learn from them, or an empty
    string. One query.
    """
    drawn = DevelopmentDocument.objects.filter(document__project=judge.project_id).count()
    if not drawn:
        return ""
    return ngettext(
        "Without people’s values of {count:,} document used for development.",
        "Without people’s values of {count:,} documents used for development.",
        drawn,
    ).format(count=drawn)


def _count_sentence(judges: Collection[Judge]) -> str:
    # Excluded judgments have no value and count on no page, whatever is chosen.
    left_out = Judgment.objects.filter(judge__in=judges, is_corrected=True, status=Judgment.Status.DONE)
    counts = dict(left_out.values_list("judge__name").annotate(Count("pk")).order_by("judge__name"))
    if not counts:
        return str(NOTHING_LEFT_OUT)
    number = sum(counts.values())
    by_judge = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return ngettext(
        "Without {count:,} judgment that a person corrected ({by_judge}).",
        "Without {count:,} judgments that a person corrected ({by_judge}).",
        number,
    ).format(count=number, by_judge=by_judge)
