"""Effects of the order of work, on the page that watches Round I."""

from collections import Counter
from collections.abc import Sequence

import pytest

from annotate.core.models import Assignment, Dimension
from annotate.core.models.rounds import WorkOrder
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.plans import choose_plan
from annotate.rating.queries.assignments import own_order
from annotate.results.table import Cell
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db


def rated_by_position(
    work_order: str = WorkOrder.BY_DOCUMENT, level: str = "ordinal", values: Sequence[int] = (1, 2, 3, 4)
) -> Cast:
    """Eight documents of four items, rated in the order of work: these values, again for each document.

    In a mixed order they follow each other over all items, whatever their documents.
    """
    cast = make_project(documents=8, systems=4)
    Dimension.objects.filter(project=cast.project).update(measurement_level=level)
    choose_plan(project=cast.project, kind="everyone", work_order=work_order)
    round = opened(cast)
    for annotator in cast.annotators:
        reserve_items(round=round, annotator=annotator, how_many=len(cast.items))
        met: Counter[int] = Counter()
        for assignment in own_order(round, annotator).select_related("item"):
            document = assignment.item.document_id if work_order == WorkOrder.BY_DOCUMENT else 0
            rate(cast, round, annotator, assignment.item, values[met[document] % len(values)])
            met[document] += 1
    return cast


def order_of(cast: Cast) -> list[dict[str, Cell]]:
    return cells_of(cast.project, "so-far", "order")


def test_values_that_rise_within_documents_are_seen() -> None:
    position, carried = order_of(rated_by_position())
    assert position["effect"].value == pytest.approx(1)
    assert position["reading"].value == "values rise towards the end of a document"
    # In each document centred -1.5 to 1.5: neighbours 1.25, S = 5, k = 4: (1.25 + 5 / 4) / (3 * 5 / 4).
    assert carried["effect"].value == pytest.approx(2.5 / 3.75)
    assert carried["reading"].value == "values follow the one before"


def test_null_effect_is_reported_as_not_visible() -> None:
    # 1 2 2 1 is symmetric, and its neighbours are -1/4 in all, which centring alone makes them.
    position, carried = order_of(rated_by_position(values=(1, 2, 2, 1)))
    for row in (position, carried):
        assert row["effect"].value == pytest.approx(0)
        assert row["effect"].low is not None
        assert row["reading"].value == "none is to be seen"


def test_undefined_order_effect_has_a_reason() -> None:
    named = order_of(rated_by_position(level="nominal"))
    assert all("Categories have no order" in row["effect"].reason for row in named)
    cast = rated_by_position()
    Assignment.objects.update(plan="imported")
    assert all("have no times" in row["p"].reason for row in order_of(cast))


def test_in_a_mixed_order_the_item_before_may_be_of_another_document() -> None:
    _, carried = order_of(rated_by_position(WorkOrder.MIXED))
    # 1 2 3 4 eight times over, centred -1.5 to 1.5: neighbours 8 * 1.25 - 7 * 2.25, S = 40, k = 32.
    assert carried["effect"].value == pytest.approx((10 - 15.75 + 40 / 32) / (31 * 40 / 32))
