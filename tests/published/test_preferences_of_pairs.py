"""Preferences about pairs of systems: points of table 22 of Shen et al. 2023 through the results page."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pytest
from django.utils import timezone

from annotate.core.models import (
    Assignment,
    ComparisonSide,
    Dimension,
    Document,
    Item,
    Project,
    Rating,
    System,
    text_digest,
)
from annotate.rating.commands.rounds import open_round_one
from tests.factories import make_project
from tests.published.news_summeval import DIMENSIONS, lines, published, summaries, value
from tests.questions.asking import add_question
from tests.results.reading import cells_of

pytestmark = [pytest.mark.once, pytest.mark.django_db]

Pair = tuple[str, str]
Answers = list[tuple[Pair, str, int, float]]
"""Pair, document, which of its systems was shown first, and points of the first system: 1, .5 or 0."""


def points(of_whom: str, dimension: str) -> dict[Pair, float]:
    """Return the published points of the first system of each pair, of 100 documents."""
    found = {}
    for row in published():
        if row["quantity"] == "h2h_points_of_system_1" and (row["dimension"], row["coefficient"]) == (
            dimension,
            of_whom,
        ):
            first, second = row["system"].split("-")
            found[first, second] = float(row["published"])
    return found


def of_model(dimension: str) -> Iterator[tuple[Pair, str, int, float]]:
    pairs = points("llm", dimension)
    for line in lines("h2h_gpt-3.5-turbo-0301.jsonl.gz"):
        if line["dimension"] == dimension:
            shown = (line["system_1"], line["system_2"])
            won = value(line)
            if shown in pairs:
                yield shown, line["id"], 0, won
            else:
                yield (shown[1], shown[0]), line["id"], 1, 1 - won


def of_people(dimension: str) -> Iterator[tuple[Pair, str, int, float]]:
    scores = {
        (line["system"], line["id"]): np.mean([each[dimension] for each in line["expert_annotations"]])
        for line in summaries()
    }
    for pair in points("human", dimension):
        for document in sorted({document for _, document in scores}):
            one, other = (scores[system, document] for system in pair)
            won = 0.5 if np.isclose(one, other) else float(one > other)
            yield pair, document, 0, won


def compared(answers: Answers, raters: int) -> Project:
    """Make a project whose raters have given these answers in Round I: one for each order of the sides."""
    cast = make_project(dimensions=(), documents=0, systems=0, annotators=raters, raters_per_item=raters)
    question = add_question(cast.project, "preference", ties=True, strength=1)
    make_pairs(cast.project, answers)
    round = open_round_one(project=cast.project, by=cast.admin)
    assignments = list(Assignment.objects.filter(round=round).order_by("item", "slot"))
    for position, assignment in enumerate(assignments, start=1):
        assignment.annotator, assignment.position = cast.annotators[assignment.slot], position
    Assignment.objects.bulk_update(assignments, ["annotator", "position"])
    keep_answers(question, assignments, answers)
    return cast.project


def make_pairs(project: Project, answers: Answers) -> None:
    names = sorted({system for pair, *_ in answers for system in pair})
    systems = {name: System.objects.create(project=project, name=name) for name in names}
    documents = {
        key: Document.objects.create(project=project, key=key, parts=[], digest=text_digest([]))
        for key in sorted({document for _, document, _, _ in answers})
    }
    outputs = {}
    for key, document in documents.items():
        for name, system in systems.items():
            output = Item(document=document, system=system, text=name, digest=text_digest(name))
            outputs[name, key] = output
    Item.objects.bulk_create(outputs.values())
    stands_for = {
        pair: System.objects.create(project=project, name=" | ".join(pair), compares=True)
        for pair in {pair for pair, *_ in answers}
    }
    items = {
        (pair, key): Item(
            document=documents[key], system=stands_for[pair], kind="pair", text="", digest=f"{pair}"
        )
        for pair, key in dict.fromkeys((pair, document) for pair, document, _, _ in answers)
    }
    Item.objects.bulk_create(items.values())
    ComparisonSide.objects.bulk_create(
        ComparisonSide(item=item, position=position, output=outputs[name, key])
        for (pair, key), item in items.items()
        for position, name in enumerate(pair)
    )


def keep_answers(question: Dimension, assignments: list[Assignment], answers: Answers) -> None:
    assignment_of = {(assignment.item_id, assignment.slot): assignment for assignment in assignments}
    rows = Item.objects.exclude(kind="output").values_list("pk", "system__name", "document__key")
    item_of = {(tuple(name.split(" | ")), document): pk for pk, name, document in rows}
    now = timezone.now()
    Rating.objects.bulk_create(
        Rating(
            assignment=assignment_of[item_of[pair, document], order],
            dimension=question,
            value=1 - 2 * won,  # below 0 for the first side
            data={"order": [order, 1 - order]},
            created_at=now,
            updated_at=now,
        )
        for pair, document, order, won in answers
    )


def expected(of_whom: str, dimension: str, orders: int) -> dict[str, float]:
    """Return each system's published points over all its pairs, with this number of answers for each text."""
    found: dict[str, float] = defaultdict(float)
    for (first, second), own in points(of_whom, dimension).items():
        found[first] += orders * own
        found[second] += orders * (100 - own)
    return dict(found)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_points_of_a_model_in_both_orders_are_the_published_ones(dimension: str) -> None:
    project = compared(list(of_model(dimension)), raters=2)
    rows = cells_of(project, "questions", "systems", question="preference")
    won = {row["system"].value: row["won"].value + row["tied"].value / 2 for row in rows}
    assert won == expected("llm", dimension, orders=2)
    assert all(row["strength"].value is not None for row in rows)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_points_of_people_are_the_published_ones(dimension: str) -> None:
    project = compared(list(of_people(dimension)), raters=1)
    rows = cells_of(project, "questions", "systems", question="preference")
    won = {row["system"].value: row["won"].value + row["tied"].value / 2 for row in rows}
    assert won == expected("human", dimension, orders=1)
    # Raters saw each pair in one order only, so the data cannot separate strength from position.
    assert "Texts were shown in one order only" in rows[0]["strength"].reason
