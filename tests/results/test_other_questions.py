"""The page Other questions: its statistics equal an independent count of the answers."""

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotate import questions
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Dispute, Item, Project, Rating
from annotate.disputes.commands.disputes import answer_dispute
from annotate.questions import Given, QuestionKind, register_kind
from annotate.questions.kind import Cleaned
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.results.commands import current_page
from annotate.results.questions.answers import answers_of_rounds, means_table
from annotate.results.registry import result_of
from tests.factories import Cast
from tests.questions.asking import OPTIONS, give, open_questions
from tests.results.reading import Row, cells_of

pytestmark = pytest.mark.django_db


def cells(project: Project, key: str, question: str) -> dict[str, Row]:
    """Return the rows of a table by what their first column names."""
    return {
        str(next(iter(row.values())).value): row
        for row in cells_of(project, "questions", key, question=question)
    }


def alpha_of(units: list[list[Any]], distance: Callable[[Any, Any], float]) -> float:
    """Return Krippendorff's alpha over all ordered pairs of answers, as its definition counts them."""
    paired = [unit for unit in units if len(unit) > 1]
    every = [answer for unit in paired for answer in unit]
    observed = sum(
        sum(distance(*pair) for pair in permutations(unit, 2)) / (len(unit) - 1) for unit in paired
    ) / len(every)
    expected = sum(distance(*pair) for pair in permutations(every, 2)) / (len(every) * (len(every) - 1))
    return 1 - observed / expected


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def comparison(cast: Cast, document: int, *systems: str) -> int:
    items = Item.objects.filter(document__project=cast.project).exclude(kind="output")
    key = cast.items[document * 3].document_id
    return items.get(document=key, system__name=" | ".join(systems)).pk


LABEL_SETS: list[list[set[str]]] = [
    [{"grammar"}, {"grammar", "spelling"}],
    [set(), set()],
    [{"spelling"}, {"grammar"}],
    [{"grammar"}, {"grammar"}],
    [{"wrong-word", "grammar"}, {"wrong-word"}],
    [{"grammar"}, set()],
]


def test_alpha_of_labels_uses_the_jaccard_distance() -> None:
    cast = open_questions("labels")
    for item, of_raters in zip(cast.items, LABEL_SETS, strict=True):
        for annotator, labels in zip(cast.annotators, of_raters, strict=True):
            give(annotator, item.pk, "labels", data={"labels": sorted(labels)})
    (row,) = cells_of(cast.project, "questions", "agreement", question="labels")
    units = [[frozenset(each) for each in unit] for unit in LABEL_SETS]
    assert row["round_1"].value == pytest.approx(alpha_of(units, jaccard))
    assert row["round_2"].reason == "Round II has not been opened."
    # Grammar: given together by both in 2 of 6, by one in 4 answers more.
    by_label = cells(cast.project, "labels", "labels")
    assert by_label["Grammar"]["given"].value == 7
    assert by_label["Grammar"]["round_1_f1"].value == pytest.approx(2 * 2 / 7)
    systems = cells(cast.project, "systems", "labels")
    # Outputs 1 and 4 are of system-1: both raters, and both raters.
    assert systems["system-1"]["label_grammar"].value == 1
    assert systems["system-2"]["label_wrong-word"].value == pytest.approx(0.5)


def test_a_part_is_a_unit_and_a_system_has_the_share_of_yes() -> None:
    cast = open_questions("parts")
    chosen = [["yes yes no", "yes no no"], ["no no no", "no no yes"], ["yes yes yes", "yes yes yes"]] * 2
    for item, of_raters in zip(cast.items, chosen, strict=True):
        for annotator, parts in zip(cast.annotators, of_raters, strict=True):
            give(annotator, item.pk, "parts", data={"parts": parts.split()})
    alpha, equal = cells_of(cast.project, "questions", "agreement", question="parts")
    units = [list(pair) for unit in chosen for pair in zip(*(each.split() for each in unit), strict=True)]
    assert alpha["round_1"].value == pytest.approx(alpha_of(units, lambda one, other: one != other))
    assert equal["round_1"].value == pytest.approx(14 / 18)
    systems = cells(cast.project, "systems", "parts")
    shares = {name: row["share"].value for name, row in systems.items()}
    assert shares == pytest.approx({"system-1": 1 / 2, "system-2": 1 / 6, "system-3": 1})
    assert next(iter(shares)) == "system-3"


@pytest.mark.parametrize("largest_first", [True, False])
def test_system_without_a_number_is_the_last_in_both_orders(largest_first: bool) -> None:
    cast = open_questions("spans")
    for item in cast.items:
        give(cast.annotators[0], item.pk, "spans", data={"spans": []})
    (answers,) = answers_of_rounds(cast.project, guideline_at(cast.project, None).dimensions[0])
    numbers = {"system-1": np.nan, "system-2": 2.0, "system-3": -1.0}
    values = np.tile([numbers[system] for system in answers.systems], (len(answers.raters), 1))
    table = means_table(answers, [("mean", "Mean", values)], -5, 5, largest_first=largest_first)
    last = table.rows[-1]
    assert last[0].value == "system-1"
    assert (last[1].value, last[1].reason) == (None, "There are no values yet.")


def test_the_preferred_system_is_the_strongest_whatever_side_it_is_on() -> None:
    cast = open_questions("preference", documents=6)
    for document in range(6):
        for number, annotator in enumerate(cast.annotators):
            odd = (document + number) % 5 == 0
            give(
                annotator, comparison(cast, document, "system-1", "system-2"), "preference", -1 if odd else 2
            )
            give(
                annotator, comparison(cast, document, "system-1", "system-3"), "preference", 1 if odd else -1
            )
            give(
                annotator, comparison(cast, document, "system-2", "system-3"), "preference", 1 if odd else -1
            )
    systems = cells_of(cast.project, "questions", "systems", question="preference")
    assert [row["system"].value for row in systems] == ["system-2", "system-1", "system-3"]
    odds = sum((document + number) % 5 == 0 for document in range(6) for number in range(2))
    assert systems[0]["answers"].value == 24
    assert systems[0]["won"].value == 24 - 2 * odds
    assert systems[0]["tied"].value == 0
    agreement = cells(cast.project, "agreement", "preference")
    alike = sum((document % 5 == 0) == ((document + 1) % 5 == 0) for document in range(6)) / 6
    assert agreement["agreement on the winner"]["round_1"].value == pytest.approx(alike)
    # Both orientations: values and their mirror images are the units.
    values = [
        [sign * (1 if (document + number) % 5 else -1) for number in range(2)]
        for document in range(6)
        for _ in range(3)
        for sign in (1, -1)
    ]
    alpha = agreement["alpha of the winner, in both orientations"]["round_1"].value
    assert alpha == pytest.approx(alpha_of(values, lambda one, other: one != other))


def test_position_effect_uses_the_side_displayed_first() -> None:
    cast = open_questions("preference", documents=6)
    pairs = Item.objects.exclude(kind="output").order_by("pk")
    for annotator in cast.annotators:
        for pair in pairs:
            give(annotator, pair.pk, "preference", 1)
            rating = Rating.objects.get(assignment__annotator=annotator, assignment__item=pair)
            assert rating.data is not None
            give(annotator, pair.pk, "preference", -1 if rating.data["order"][0] == 0 else 1)
    # Everybody prefers the first side shown, always.
    first = cells_of(cast.project, "questions", "position", question="preference")[0]
    assert (first["share"].value, first["share"].count) == (1, 36)


def test_equal_rankings_have_full_concordance() -> None:
    cast = open_questions("ranking", documents=6)
    for document in range(6):
        triple = comparison(cast, document, "system-1", "system-2", "system-3")
        for annotator in cast.annotators:
            ranks = [3, 2, 1] if document else [1, 2, 3]
            give(annotator, triple, "ranking", data={"ranks": ranks})
    alpha, concordance = cells_of(cast.project, "questions", "agreement", question="ranking")
    assert alpha["round_1"].value == pytest.approx(1)
    assert concordance["round_1"].value == pytest.approx(1)
    systems = cells_of(cast.project, "questions", "systems", question="ranking")
    assert [row["system"].value for row in systems] == ["system-3", "system-2", "system-1"]
    assert [row["first"].value for row in systems] == [10, 0, 2]


def test_best_worst_scores_count_best_and_worst() -> None:
    cast = open_questions("ranking", documents=2)
    cast.project.dimensions.update(options={"best_worst": True, "ties": False})
    guideline = cast.project.rounds.get().guideline
    guideline.content["dimensions"][0]["options"] = {"best_worst": True, "ties": False}
    guideline.digest = f"{guideline.digest[:-1]}x"
    guideline.save()
    triple = comparison(cast, 0, "system-1", "system-2", "system-3")
    for annotator, ranks in zip(cast.annotators, ([1, 2, 3], [1, 3, 2]), strict=True):
        give(annotator, triple, "ranking", data={"ranks": ranks})
    scores = cells(cast.project, "best-worst", "ranking")
    assert {name: row["score"].value for name, row in scores.items()} == pytest.approx(
        {"system-1": 1, "system-2": -0.5, "system-3": -0.5}
    )


def span(start: int, end: int, severity: str, category: str = "accuracy") -> dict[str, Any]:
    return {"part": 0, "start": start, "end": end, "category": category, "severity": severity}


def test_mqm_scores_are_sums_of_weights() -> None:
    cast = open_questions("spans")
    for item in cast.items:
        for annotator in cast.annotators:
            give(annotator, item.pk, "spans", data={"spans": [span(0, 4, "minor")]})
    one = cast.annotators[0]
    give(
        one, cast.items[0].pk, "spans", data={"spans": [span(0, 4, "major"), span(5, 8, "minor", "fluency")]}
    )
    systems = cells(cast.project, "systems", "spans")
    # Of system-1 the first document has 6 and 1, the second 1 and 1.
    assert systems["system-1"]["mqm"].value == pytest.approx((3.5 + 1) / 2)
    assert systems["system-2"]["mqm"].value == 1
    lengths = [len(cast.items[index].text) for index in (0, 3)]
    per_1000 = (3500 / lengths[0] + 1000 / lengths[1]) / 2
    assert systems["system-1"]["mqm_per_1000"].value == pytest.approx(per_1000)
    errors = cells(cast.project, "errors", "spans")
    assert errors["system-1"]["fluency"].value == pytest.approx(0.25)
    # Characters: 4 and 4 in five texts; 7 and 4 in one, of which 4 count half.
    f1 = cells_of(cast.project, "questions", "agreement", question="spans")[0]["round_1"].value
    assert f1 == pytest.approx(2 * (5 * 4 + 2) / (5 * 8 + 11))
    categories = cells(cast.project, "categories", "spans")
    assert [categories[name]["spans"].value for name in ("Accuracy", "Fluency")] == [12, 1]


def test_free_answers_are_tallied() -> None:
    cast = open_questions("text")
    for annotator in cast.annotators:
        give(annotator, cast.items[0].pk, "text", data={"text": f"It is {annotator.alias}."})
    texts = cells(cast.project, "answers", "text")
    assert (texts["all"]["answers"].value, texts["all"]["characters"].value) == (2, 16)


def test_round_two_has_the_answers_that_raters_hold_after_discussion(client: Client) -> None:
    cast = open_questions("labels")
    for item, of_raters in zip(cast.items, LABEL_SETS, strict=True):
        for annotator, labels in zip(cast.annotators, of_raters, strict=True):
            give(annotator, item.pk, "labels", data={"labels": sorted(labels)})
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    dispute = Dispute.objects.get(item=cast.items[2])
    answer_dispute(
        dispute=dispute, rater=cast.annotators[0], value=None, data={"labels": ["grammar"]}, comment="Yes."
    )
    (row,) = cells_of(cast.project, "questions", "agreement", question="labels")
    held = [[frozenset(each) for each in unit] for unit in LABEL_SETS]
    assert row["round_1"].value == pytest.approx(alpha_of(held, jaccard))
    held[2][0] = frozenset({"grammar"})
    assert row["round_2"].value == pytest.approx(alpha_of(held, jaccard))
    client.force_login(cast.researcher)
    page = client.get(
        reverse("results_page", args=[cast.project.slug, "questions"]), {"question": "labels"}
    ).content.decode()
    assert f"Round I has a value of {row['round_1'].value:.2f}" in page


class StarsKind(QuestionKind):
    """A kind of another app: whole stars, whose distance is 1 from two stars on."""

    key = "stars"
    name = "Stars"
    about = "Stars from 0 to 5."
    template = "questions/text.html"
    number_name = "stars"

    def bounds(self, options: Any) -> tuple[int, int]:  # noqa: ARG002
        return 0, 5

    def clean(self, *given: Any) -> Cleaned:
        _, value, _, _ = given
        assert value is not None
        return Given(value, {"stars": "*" * int(value)})

    def describe(self, dimension: FrozenDimension, given: Given) -> str:  # noqa: ARG002
        return f"{given.value:g}"

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:  # noqa: ARG002
        return min(abs(one.value - other.value) / 2, 1)


@pytest.fixture
def stars(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(OPTIONS, "stars", {})
    register_kind(StarsKind())
    yield
    del questions._kinds["stars"]


def test_a_kind_of_another_app_has_alpha_by_its_distance_and_means(stars: None) -> None:
    cast = open_questions("stars")
    values = [(1, 2), (5, 5), (0, 3), (2, 2), (4, 5), (1, 1)]
    for item, of_raters in zip(cast.items, values, strict=True):
        for annotator, value in zip(cast.annotators, of_raters, strict=True):
            give(annotator, item.pk, "stars", value)
    (row,) = cells_of(cast.project, "questions", "agreement", question="stars")
    units = [list(each) for each in values]
    assert row["round_1"].value == pytest.approx(alpha_of(units, lambda a, b: min(abs(a - b) / 2, 1)))
    systems = cells(cast.project, "systems", "stars")
    assert systems["system-2"]["mean"].value == pytest.approx((5 + 4.5) / 2)
    page = current_page(
        project=cast.project, result=result_of(cast.project, "questions", {"question": "stars"})
    )
    assert page.sections[0].title == "Stars: Stars"
