"""Judgments that one call gives: of an item and sample, by a judge that covers several dimensions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Dimension, Item
from annotate.questions.scale import SCALE
from judges.core.models import Judge, Judgment, Run
from judges.methods import METHODS

SEVERAL = [key for key, method in METHODS.items() if method.asks_several]
OF_DOCUMENTS = [key for key, method in METHODS.items() if method.document_section]
LOOKED_THROUGH = 200  # judgments searched per call, to find all outputs of a document
Key = tuple[int, ...]
_NONE: Mapping[int, Judge] = {}
_MOST_SAMPLES = 2**16  # more than a judge may have


def count_shared_calls(counted: Q) -> Count:
    """Return the number of calls for the judgments of a judge that covers several dimensions.

    One number encodes item and sample, because databases count distinct values of a single expression only.
    """
    return Count(F("item") * _MOST_SAMPLES + F("sample"), distinct=True, filter=counted)


def sizes_of_calls(judges: QuerySet[Judge]) -> dict[int, int]:
    """Return the number of judgments per call, for judges that cover several dimensions.

    One query if there is none, two otherwise.
    """
    chosen = dict(judges.filter(method__in=SEVERAL).values_list("pk", "asked_together"))
    if not chosen:
        return {}
    count = Dimension.objects.filter(project__judges__in=chosen, kind=SCALE.key).distinct().count()
    return {judge: len(together) or count for judge, together in chosen.items()}


@dataclass(frozen=True)
class SharedCalls:
    """The judges of a run with several judgments per call.

    sizes: the number of judgments per call, if it covers several dimensions of the run's guideline.
    of_documents: the judges whose first call serves all outputs of a document.
    """

    sizes: Mapping[int, int]
    of_documents: Mapping[int, Judge]


def shared_calls(run: Run) -> SharedCalls:
    """Return the judges of a run whose calls give several judgments.

    One query, two if a judge covers several dimensions.
    """
    judges = Judge.with_candidates.filter(project=run.project_id, method__in=[*SEVERAL, *OF_DOCUMENTS])
    own = judges.filter(Exists(Judgment.objects.filter(run=run, judge=OuterRef("pk"))))
    found = list(own.select_related("template"))
    several = [judge for judge in found if judge.asks_several]
    dimensions = FrozenGuideline.from_json(run.guideline.content).scales if several else ()
    return SharedCalls(
        {judge.pk: len(judge.dimensions_of_call(dimensions)) for judge in several},
        {judge.pk: judge for judge in found if judge.asks_of_documents},
    )


def group_by_call(
    judgments: QuerySet[Judgment], several: Collection[int], of_documents: Mapping[int, Judge] = _NONE
) -> dict[Key, list[int]]:
    """Return judgments grouped by call, calls and judgments in order.

    One query, two with of_documents: the judges whose first call serves all outputs of a document. several:
    judges that cover several dimensions per call.
    """
    calls: dict[Key, list[int]] = {}
    if not of_documents:
        columns = ("pk", "judge", "item", "sample", "steps_done")
        for pk, judge, item, sample, steps_done in judgments.values_list(*columns):
            is_shared = judge in several and not steps_done
            calls.setdefault((judge, item, sample) if is_shared else (pk,), []).append(pk)
        return calls
    rows = list(judgments.values_list("pk", "judge", "item", "sample", "dimension", "steps_done"))
    # Not by a join: rows are locked by this query, and items must not be.
    items = {row[2] for row in rows if row[1] in of_documents and not row[5]}
    documents = dict(Item.objects.filter(pk__in=items).values_list("pk", "document"))
    for pk, judge, item, sample, dimension, steps_done in rows:
        key: Key | None = (judge, item, sample) if judge in several and not steps_done else None
        if judge in of_documents and not steps_done:
            key = document_key(of_documents[judge], documents[item], dimension)
        calls.setdefault(key or (pk,), []).append(pk)
    return calls


def shared_by(
    judge: Judge, item: int, sample: int, document: int, dimension: int, steps_done: int
) -> Key | None:
    """Return the key common to the judgments of one call; None if a call gives one."""
    if judge.asks_several and not steps_done:
        return judge.pk, item, sample
    if judge.asks_of_documents and not steps_done:
        return document_key(judge, document, dimension)
    return None


def document_key(judge: Judge, document: int, dimension: int) -> Key:
    """Return the key of a call about a document; it may contain the dimension if wordings differ."""
    worded = judge.template is not None and bool(judge.template.wordings)
    return judge.pk, document, dimension if worded else 0, 0


def first_calls(judgments: QuerySet[Judgment], most: int, shared: SharedCalls) -> Sequence[Sequence[int]]:
    """Return the judgments of the first calls, up to `most`. One query.

    Judgments of one call are planned consecutively, so that none is cut off. Outputs of a document may be
    beyond the searched judgments, and then receive the first call's reply later.
    """
    if not shared.sizes and not shared.of_documents:
        return [[pk] for pk in judgments.values_list("pk", flat=True)[:most]]
    largest = max([*shared.sizes.values(), LOOKED_THROUGH if shared.of_documents else 1])
    rows = judgments[: most * largest]
    return list(group_by_call(rows, shared.sizes, shared.of_documents).values())[:most]
