"""A kind of question made elsewhere: one Python class, one template, and this test."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotate import questions
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import DimensionSpec, FrozenDimension
from annotate.core.models import Dispute, Rating
from annotate.disputes.commands.disputes import answer_dispute
from annotate.questions import Given, ItemContent, QuestionKind, register_kind
from annotate.questions.kind import Cleaned, Data, refuse_data
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.setup.commands import add_dimension
from tests.factories import Cast, make_project
from tests.questions.asking import give
from tests.rating.rounds import assigned, opened

pytestmark = pytest.mark.django_db

TEMPLATE = """
<div class="question">
  <input type="color" name="{{ row.dimension.key }}-colour" data-field="colour" value="{{ question.colour }}">
</div>
"""


class ColourKind(QuestionKind):
    """A colour; the distance of two colours is that of their brightness."""

    key = "colour"
    name = "Colour"
    about = "A colour that suits the text."
    template = "questions/colour.html"
    threshold = 0.5
    number_name = "brightness"

    def read_options(self, options: Any) -> dict[str, Any]:
        return {}

    def input_context(
        self, dimension: FrozenDimension, given: Given | None, item: ItemContent
    ) -> dict[str, Any]:
        return {"colour": ((given.data if given else None) or {}).get("colour", "#000000")}

    def clean(
        self, dimension: FrozenDimension, value: float | None, data: Data, item: ItemContent
    ) -> Cleaned:
        colour = data.get("colour") if data else None
        if not isinstance(colour, str) or len(colour) != 7:
            raise refuse_data(dimension)
        return round(int(colour[1:], 16) / 0xFFFFFF, 2), {"colour": colour}

    def describe(self, dimension: FrozenDimension, given: Given) -> str:
        return str((given.data or {})["colour"])

    def distance(self, dimension: FrozenDimension, one: Given, other: Given) -> float:
        return abs(one.value - other.value)


@pytest.fixture
def cast(tmp_path: Path, settings: Any) -> Iterator[Cast]:
    """Give a project that asks for a colour, with Round I open."""
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "colour.html").write_text(TEMPLATE)
    (engine,) = settings.TEMPLATES
    settings.TEMPLATES = [{**engine, "DIRS": [tmp_path, *engine["DIRS"]]}]
    register_kind(ColourKind())
    made = make_project(dimensions=(), annotators=2, raters_per_item=2)
    add_dimension(project=made.project, dimension=DimensionSpec("Mood", "Which colour.", kind="colour"))
    round = opened(made)
    for annotator in made.annotators:
        for item in made.items:
            assigned(made, round, annotator, item)
    yield made
    del questions._kinds["colour"]


def test_the_rating_page_asks_it(cast: Cast, client: Client) -> None:
    user = cast.annotators[0].user
    assert user
    client.force_login(user)
    page = client.get(f"/projects/{cast.project.slug}/rate/", follow=True).content.decode()
    assert 'type="color" name="mood-colour"' in page


def test_it_is_saved_disputed_and_settled(cast: Cast) -> None:
    one, other = cast.annotators
    item = cast.items[0].pk
    with pytest.raises(InvalidValueError):
        give(one, item, "mood", data={"colour": "red"})
    assert give(one, item, "mood", data={"colour": "#000000"}).assignment_complete
    give(other, item, "mood", data={"colour": "#ffffff"})
    assert set(Rating.objects.values_list("value", flat=True)) == {0, 1}
    close_round_one(project=cast.project, by=cast.admin)
    dispute = Dispute.objects.get()
    assert (dispute.spread, dispute.threshold) == (1, 0.5)
    open_round_two(project=cast.project, by=cast.admin)
    white = {"colour": "#ffffff"}
    assert answer_dispute(dispute=dispute, rater=one, value=None, data=white).status == "settled"
