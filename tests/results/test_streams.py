"""A figure's random numbers follow from the project's seed and the figure's name, and from nothing else."""

import random

import pytest

from agreement import Stream
from annotate.core.models import Project
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Cell
from tests.factories import make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of


def test_stream_restarts_for_each_value_and_depends_on_its_name() -> None:
    stream = Stream(7).of("people", "fluency")
    first, again = (stream.of("alpha").generator().random(4).tolist() for _ in range(2))
    assert first == again
    assert first != stream.of("beta").generator().random(4).tolist()
    assert first != Stream(8).of("people", "fluency", "alpha").generator().random(4).tolist()


def test_stream_names_depend_on_their_parts() -> None:
    one, other = Stream(1).of("ab", "c"), Stream(1).of("a", "bc")
    assert one.generator().random() != other.generator().random()


def test_a_shuffler_is_the_same_again() -> None:
    orders = []
    for _ in range(2):
        listed = list(range(20))
        Stream(3).of("round", 1).shuffler().shuffle(listed)
        orders.append(listed)
    assert orders[0] == orders[1] != list(range(20))


def rated(dimensions: tuple[str, ...]) -> Project:
    """Rate a new project always alike, with enough units for a bootstrap."""
    cast = make_project(dimensions=dimensions, documents=10, systems=3)
    Project.objects.filter(pk=cast.project.pk).update(seed=3)
    round = opened(cast)
    chance = random.Random(5)
    for item in cast.items:
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, chance.randint(1, 5))
    return Project.objects.get(pk=cast.project.pk)


def figures_of(project: Project, dimension: str) -> dict[tuple[str, str, str], Cell]:
    """Return every figure about a dimension: its table, its row, its column."""
    found = {}
    for page in ("agreement", "systems"):
        for table in current_page(project=project, result=result_of(project, page)).tables:
            for row in table.rows:
                heads = " / ".join(str(cell.value) for cell in row[: table.heads])
                for column, cell in zip(table.columns, row, strict=True):
                    if column.key == dimension or (dimension.capitalize() in heads and cell.how):
                        found[table.key, heads, column.key] = cell
    return found


@pytest.mark.django_db
def test_values_are_equal_in_another_project_with_other_keys() -> None:
    first, second = rated(("fluency",)), rated(("fluency",))
    known = figures_of(first, "fluency")
    assert sum(cell.low is not None for cell in known.values()) > 20
    assert known == figures_of(second, "fluency")


@pytest.mark.django_db
def test_another_dimension_changes_no_value() -> None:
    alone, beside = rated(("fluency",)), rated(("fluency", "coherence"))  # only fluency is rated
    (own,) = cells_of(alone, "agreement", "rounds")
    first, second = cells_of(beside, "agreement", "rounds")
    assert first["round_1_alpha"] == own["round_1_alpha"]
    assert second["round_1_alpha"].reason == "There are no ratings yet."
    pairs = [cells_of(project, "agreement", "round-1-pairs") for project in (alone, beside)]
    assert [row["fluency"] for row in pairs[0]] == [row["fluency"] for row in pairs[1]]
