"""How sure alpha is while Round I goes on, and whether one may stop."""

import math

import pytest

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


def test_the_width_says_how_many_items_are_missing_and_unfinished_documents_do_not_count() -> None:
    cast = make_project(documents=8, annotators=2, raters_per_item=2)
    round = opened(cast)
    for number, item in enumerate(cast.items):
        for place, annotator in enumerate(cast.annotators):
            if number < 14:
                rate(cast, round, annotator, item, 1 + number % 4 + place * (number % 3 == 0))
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
