"""The order in which an annotator is asked for the dimensions: as listed, or drawn once for each."""

import pytest
from django.test import Client

from annotate.core.models import Assignment, Round
from annotate.exports.tables.ratings import ASSIGNMENTS
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.plans import choose_plan
from annotate.rating.queries.work import item_page
from tests.factories import Cast, make_project
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db
KEYS = tuple("abcdefg")


def cast_with(dimension_order: str) -> Cast:
    cast = make_project(dimensions=KEYS, documents=3, annotators=4)
    choose_plan(project=cast.project, kind="everyone", dimension_order=dimension_order)
    return cast


def orders(cast: Cast, round: Round) -> dict[str, set[tuple[str, ...]]]:
    """The orders in which each annotator is asked, over all items."""
    found: dict[str, set[tuple[str, ...]]] = {}
    for annotator in cast.annotators:
        reserve_items(round=round, annotator=annotator, how_many=100)
        for assignment in Assignment.objects.filter(round=round, annotator=annotator):
            rows = item_page(assignment).rows
            found.setdefault(annotator.alias, set()).add(tuple(row.dimension.key for row in rows))
    return found


def test_listed_is_the_default() -> None:
    cast = cast_with("fixed")
    round = opened(cast)
    assert round.dimension_order == "fixed"
    assert set.union(*orders(cast, round).values()) == {KEYS}


def test_order_is_random_per_annotator_and_exported() -> None:
    cast = cast_with("drawn")
    round = opened(cast)
    found = orders(cast, round)
    assert all(len(own) == 1 for own in found.values())  # the same on every item
    assert len(set.union(*found.values())) > 1
    assert all(sorted(order) == list(KEYS) for own in found.values() for order in own)
    pseudonyms = {each.pseudonym: each.alias for each in cast.annotators}
    for row in ASSIGNMENTS.rows(cast.project):
        (own,) = found[pseudonyms[row["rater"]]]
        assert own[row["dimension_position"] - 1] == row["dimension"]


def test_the_order_follows_the_pseudonym_and_the_seed_alone() -> None:
    one, other = cast_with("drawn"), cast_with("drawn")
    for mine, theirs in zip(one.annotators, other.annotators, strict=True):
        theirs.pseudonym = mine.pseudonym
        theirs.save()
    other.project.seed = one.project.seed
    other.project.save()
    assert orders(one, opened(one)) == orders(other, opened(other))


def test_page_shows_the_random_order(client: Client) -> None:
    cast = cast_with("drawn")
    round = opened(cast)
    (own,) = orders(cast, round)[cast.annotators[0].alias]
    client.force_login(cast.annotators[0].user)  # type: ignore[arg-type]
    html = client.get(f"/projects/{cast.project.slug}/rate/1/").content.decode()
    positions = [html.index(f'name="{key}-value"') for key in own]
    assert positions == sorted(positions)
