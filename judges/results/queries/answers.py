"""Answers of judges and people to questions of other kinds than scales, compared by the kind's distance."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from agreement import Coefficient, Stream
from agreement.comparison.categories import mean_closeness
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Item, Project, Rating, Round
from annotate.questions import Given, kind_of
from annotate.questions.preference import sign
from judges.core.models import Judge, Judgment
from judges.results.queries.scores import counted_judgments, stream_of_judge

PeopleByItem = Mapping[int, Mapping[int, Given]]
"""By item and annotator."""


@dataclass(frozen=True)
class AnswersBesidePeople:
    """A judge's answers to one question compared with people's; None if the kind has no distance.

    items: items with an answer of the judge. among_people: of people with one another, about the same items.
    same_in_both_orders: the share of comparisons, None unless the judge answers in both orders. unmatched:
    quotes that no output contains.
    """

    judge: Judge
    dimension: FrozenDimension
    items: int
    with_people: Coefficient | None
    among_people: Coefficient | None
    same_in_both_orders: float | None
    unmatched: int


def answers_beside_people(
    project: Project,
    judges: Sequence[Judge],
    guideline: FrozenGuideline,
    round: Round | None,
    *,
    with_corrected: bool = True,
    shared_items: bool = False,
) -> list[AnswersBesidePeople]:
    """Return the judges' answers to each question of another kind, compared with people's answers.

    Each person's last answer up to the round counts. Documents that judges may have learned from are
    excluded, and an addition's bridging items. shared_items: only items with an answer of every judge that
    answers the question. Three queries; none without such questions.
    """
    questions = [each for each in guideline.dimensions if not each.is_scale]
    if not questions:
        return []
    people = _people(questions, round)
    items = Item.objects.filter(
        document__project=project, document__development__isnull=True, gold__bridging__isnull=True
    )
    documents = dict(items.values_list("pk", "document"))
    said = _samples(judges, questions, with_corrected=with_corrected)
    found = []
    for dimension in questions:
        kind = kind_of(dimension)
        answers: dict[int, dict[int, Given]] = {}
        samples = {judge.pk: said[judge.pk, dimension.id] for judge in judges}
        for judge in judges:
            for item, own in samples[judge.pk].items():
                # Judgments about development documents and bridging items count in no result.
                answer = kind.combine(dimension, own) if item in documents else None
                if answer is not None:
                    answers.setdefault(judge.pk, {})[item] = answer
        if shared_items and answers:
            # Only judges with an answer to this question limit the items.
            everywhere = set.intersection(*map(set, answers.values()))
            answers = {pk: {item: each[item] for item in everywhere} for pk, each in answers.items()}
        for judge in judges:
            if given := answers.get(judge.pk):
                found.append(
                    _compare(
                        judge,
                        dimension,
                        given,
                        {item: samples[judge.pk][item] for item in given},
                        people[dimension.id],
                        documents,
                        stream_of_judge(project, judge, dimension),
                    )
                )
    return found


def _compare(
    judge: Judge,
    dimension: FrozenDimension,
    answers: Mapping[int, Given],
    samples: Mapping[int, Sequence[Given]],
    people: PeopleByItem,
    documents: Mapping[int, int],
    stream: Stream,
) -> AnswersBesidePeople:
    # A fixed order of items gives the intervals the same resamples each time.
    kind, items = kind_of(dimension), sorted(answers)

    def closeness(pairs: Iterable[tuple[Given, Given]]) -> float:
        found = [1 - (kind.distance(dimension, *pair) or 0) for pair in pairs]
        # An item without a pair has no closeness, and must not count as 0.
        return sum(found) / len(found) if found else np.nan

    held = [list(people.get(item, {}).values()) for item in items]
    raters = len({rater for item in items for rater in people.get(item, {})})
    beside = [[(answers[item], each) for each in own] for item, own in zip(items, held, strict=True)]
    among = [list(combinations(own, 2)) for own in held]
    with_people, among_people = (
        mean_closeness(
            np.array([closeness(each) for each in pairs], dtype=float),
            [documents[item] for item in items],
            answers=count,
            raters=raters,
            generator=stream.of(name),
        )
        if kind.has_distance
        else None
        for name, pairs, count in (
            # The judge has one answer for each item, and people have the others.
            ("with people", beside, sum(map(len, held)) + len(items)),
            ("among people", among, sum(map(len, held))),
        )
    )
    # All samples prefer the same output, or none prefers any.
    same = [len({sign(each.value) for each in own}) == 1 for own in samples.values()]
    return AnswersBesidePeople(
        judge,
        dimension,
        len(items),
        with_people,
        among_people,
        sum(same) / len(same) if kind.asks_both_orders else None,
        sum(len((each.data or {}).get("unmatched", ())) for own in samples.values() for each in own),
    )


def _people(questions: Sequence[FrozenDimension], round: Round | None) -> Mapping[int, PeopleByItem]:
    """Return people's values by question at the end of a round. One query."""
    found: dict[int, dict[int, dict[int, Given]]] = defaultdict(lambda: defaultdict(dict))
    if round is None:
        return found
    ratings = Rating.objects.filter(
        assignment__round__project=round.project_id,
        assignment__round__number__lte=round.number,
        assignment__annotator__counted=True,
        dimension__in=[each.id for each in questions],
        value__isnull=False,
    )
    columns = ("dimension", "assignment__item", "assignment__annotator", "value", "data")
    for dimension, item, rater, value, data in ratings.order_by(
        "assignment__round__number", "pk"
    ).values_list(*columns):
        assert rater is not None  # an annotator that counts
        assert value is not None  # filtered
        # Rows are in the order of the rounds, so the value of the last round stays.
        found[dimension][item][rater] = Given(value, data)
    return found


def _samples(
    judges: Sequence[Judge], questions: Sequence[FrozenDimension], *, with_corrected: bool
) -> Mapping[tuple[int, int], Mapping[int, list[Given]]]:
    """Return by judge and question the answers about each item, in the order of samples. One query."""
    done = counted_judgments(with_corrected=with_corrected).filter(
        judge__in=judges,
        dimension__in=[each.id for each in questions],
        other__isnull=True,
        status=Judgment.Status.DONE,
    )
    found: dict[tuple[int, int], dict[int, list[Given]]] = defaultdict(lambda: defaultdict(list))
    rows = done.order_by("item", "sample").values_list("judge", "dimension", "item", "value", "data")
    for judge, dimension, item, value, data in rows.iterator(5000):
        assert value is not None  # done
        found[judge, dimension][item].append(Given(value, data))
    return found
