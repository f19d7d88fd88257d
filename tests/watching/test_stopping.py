"""How sure alpha is while Round I goes on, and whether one may stop."""

import math

import pytest

from annotate.core.models import Assignment
from tests.factories import make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


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
    assert row["documents"].value == 7
    assert row["always_valid"].low < row["always_valid"].value < row["always_valid"].high
    assert row["always_valid_width"].value > width
    Assignment.objects.filter(item=cast.items[0]).update(completed_at=None)
    cast.project.save()
    rate(cast, round, cast.annotators[0], cast.items[14], 3)
    (row,) = cells_of(cast.project, "so-far", "stopping")
    assert row["documents"].value == 6
