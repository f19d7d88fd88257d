"""Judgments that one call gives: of an item and sample, by a judge that asks about several dimensions."""

from collections.abc import Collection, Mapping, Sequence

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Dimension
from judges.core.models import Judge, Judgment, Run
from judges.methods import METHODS

SEVERAL = [key for key, method in METHODS.items() if method.asks_several]
Key = tuple[int, ...]
_MOST_SAMPLES = 2**16  # more than a judge may have


def count_shared_calls(counted: Q) -> Count:
    """Return how many calls give the judgments of a judge that asks about several dimensions.

    One number names item and sample, for databases count distinct values of one expression only.
    """
    return Count(F("item") * _MOST_SAMPLES + F("sample"), distinct=True, filter=counted)


def sizes_of_calls(judges: QuerySet[Judge]) -> dict[int, int]:
    """Return how many judgments a call gives, for those of the judges that ask about several dimensions.

    One query where there is none, two where there are.
    """
    chosen = dict(judges.filter(method__in=SEVERAL).values_list("pk", "asked_together"))
    if not chosen:
        return {}
    count = Dimension.objects.filter(project__judges__in=chosen).distinct().count()
    return {judge: len(together) or count for judge, together in chosen.items()}


def sizes_in_run(run: Run) -> dict[int, int]:
    """Return the same for the judges of a run, by its guideline: that is what its calls ask about.

    One query where there is none, two where there are.
    """
    judges = Judge.objects.filter(project=run.project_id, method__in=SEVERAL)
    own = judges.filter(Exists(Judgment.objects.filter(run=run, judge=OuterRef("pk"))))
    found = list(own)
    if not found:
        return {}
    dimensions = FrozenGuideline.from_json(run.guideline.content).dimensions
    return {judge.pk: len(judge.dimensions_of_call(dimensions)) for judge in found}


def by_call(judgments: QuerySet[Judgment], several: Collection[int]) -> dict[Key, list[int]]:
    """Return judgments by the call that gives them, calls and judgments in their order. One query.

    several: the judges that ask about several dimensions in one call.
    """
    calls: dict[Key, list[int]] = {}
    for pk, judge, item, sample in judgments.values_list("pk", "judge", "item", "sample"):
        calls.setdefault((judge, item, sample) if judge in several else (pk,), []).append(pk)
    return calls


def first_calls(
    judgments: QuerySet[Judgment], most: int, sizes: Mapping[int, int]
) -> Sequence[Sequence[int]]:
    """Return the judgments of the first calls, at most so many. One query.

    Those of one call are planned one after the other, so that none is cut off. sizes: see `sizes_of_calls`.
    """
    if not sizes:
        return [[pk] for pk in judgments.values_list("pk", flat=True)[:most]]
    rows = judgments[: most * max(sizes.values())]
    return list(by_call(rows, sizes).values())[:most]
