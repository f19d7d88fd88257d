"""How sure alpha is while Round I goes on, and whether one may stop."""

import math

import pytest

from agreement.always_valid import always_valid_differences
from annotate.core.models import Assignment, Project
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from annotate.results.table import Table
from tests.factories import make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


def tables_of(project: Project) -> list[Table]:
    return current_page(project=project, result=result_of(project, "so-far")).tables


def test_width_gives_the_missing_items_and_skips_unfinished_documents() -> None:
    cast = make_project(documents=8, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for index, annotator in enumerate(cast.annotators):
            if number < 14:
                rate(cast, round, annotator, item, 1 + number % 4 + index * (number % 3 == 0))
    (row,) = cells_of(cast.project, "so-far", "stopping")
    width = row["width"].value
    assert row["more_0.1"].value == math.ceil(14 * (width / 0.1) ** 2) - 14
    (alpha,) = [table for table in tables_of(cast.project) if table.key == "alpha"]
    missing = f"{row['more_0.1'].value:,} ({row['dimension'].value})"
    assert f"At this rate, more items needed for an interval 0.1 wide: {missing}." in alpha.says
    assert row["documents"].value == 7
    assert row["always_valid"].low < row["always_valid"].value < row["always_valid"].high
    assert row["always_valid_width"].value > width
    Assignment.objects.filter(item=cast.items[0]).update(completed_at=None)
    cast.project.save()
    rate(cast, round, cast.annotators[0], cast.items[14], 3)
    (row,) = cells_of(cast.project, "so-far", "stopping")
    assert row["documents"].value == 6


def test_systems_differ_surely_by_finished_documents_only() -> None:
    """Two systems four points apart are sure after twelve documents, an unfinished one does not count."""
    cast = make_project(documents=13, annotators=2, raters_per_item=2)
    round = opened(cast)
    for item in cast.items[:25]:
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, 5 if item.system.name == "system-2" else 1)
    (row,) = cells_of(cast.project, "so-far", "systems-so-far")
    assert [row[key].value for key in ("documents", "pairs", "sure", "open")] == [12, 1, 1, 0]
    (pair,) = cells_of(cast.project, "so-far", "pairs-so-far")
    (expected,) = always_valid_differences([("", "", [-4.0] * 12)], reach=4)
    assert pair["difference"].value == -4
    assert (pair["difference"].low, pair["difference"].high) == (expected.low, expected.high)
    assert pair["p_adjusted"].value == expected.p_value
    (table,) = [each for each in tables_of(cast.project) if each.key == "systems-so-far"]
    assert table.says == "system-1 and system-2 differ surely on Fluency."


def test_pair_of_systems_that_is_not_sure_has_a_forecast() -> None:
    cast = make_project(documents=6, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, 3 + (number % 2) - (number % 12 == 1))
    (row,) = cells_of(cast.project, "so-far", "systems-so-far")
    differences = [0.0, *[-1.0] * 5]
    (expected,) = always_valid_differences([("", "", differences)], reach=4)
    assert row["open"].value == 1
    assert row["next"].value == "system-1 – system-2"
    assert row["more"].value == pytest.approx(expected.more_documents, abs=1)  # by the order of documents
    (table,) = [each for each in tables_of(cast.project) if each.key == "systems-so-far"]
    assert table.says.endswith(f"yet on Fluency: about {row['more'].value} more documents.")
