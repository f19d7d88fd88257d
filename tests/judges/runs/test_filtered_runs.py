"""Runs about the items of a filter, and about no others."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotate.core.errors import InvalidValueError
from annotate.core.models import Item
from annotate.items.commands import tag_items
from judges.core.models import Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.queries import usable_judges
from judges.runs.commands.runs import cancel_run, plan_run
from judges.runs.forms import filtered_items
from judges.runs.queries.plans import RunPlan, plan_of
from judges.runs.queries.samples import all_pairs
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge
from tests.judges.pages import HTMX, address, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    """Five documents with three systems each; four items are hard, of which two are of one document."""
    cast = make_project(documents=5, systems=3)
    hard = [item.pk for item in (*cast.items[:2], cast.items[3], cast.items[7])]
    tag_items(project=cast.project, items=Item.objects.filter(pk__in=hard), tag="hard", by=cast.admin)
    return cast


def scope_of(cast: Cast, query: str, **more: Any) -> Scope:
    items = filtered_items(cast.project, query)
    return Scope(list(usable_judges(cast.project)), ["fluency"], items=items, **more)


def planned(cast: Cast, query: str, **more: Any) -> RunPlan:
    return plan_of(cast.project, scope_of(cast, query, **more))


def test_only_items_of_the_filter_are_planned_and_called(cast: Cast) -> None:
    judge = make_judge(cast.project, samples=2, temperature=1)
    found = planned(cast, "tag=hard")
    assert (found.judgments, found.calls) == (8, 8)
    run = plan_run(project=cast.project, scope=scope_of(cast, "tag=hard"), by=cast.admin)
    asked = Judgment.objects.filter(run=run, judge=judge)
    assert asked.count() == 8
    assert set(asked.values_list("item", flat=True)) == set(filtered_items(cast.project, "tag=hard"))
    again = planned(cast, "tag=hard")
    assert (again.judgments, again.there, again.calls) == (8, 8, 0)
    assert planned(cast, "document=" + cast.items[0].document.key).there == 4, "two of its texts are hard"


def test_remainder_of_a_cancelled_run_is_adopted_only_for_these(cast: Cast) -> None:
    make_judge(cast.project)
    every = Scope(list(usable_judges(cast.project)), ["fluency"])
    run = plan_run(project=cast.project, scope=every, by=cast.admin)
    Judgment.objects.filter(run=run).update(status=Judgment.Status.FAILED, value=None, reason="No answer.")
    cancel_run(run=run)
    second = plan_run(project=cast.project, scope=scope_of(cast, "tag=hard"), by=cast.admin)
    assert Judgment.objects.filter(run=second).count() == 4
    assert Judgment.objects.filter(run=run).count() == 11


def test_both_outputs_of_a_pair_match_the_filter(cast: Cast) -> None:
    make_judge(cast.project, "h2h")
    pairs = list(all_pairs(cast.project))
    assert planned(cast, "tag=hard", pairs=pairs).calls == 2, "one document has two hard texts"
    run = plan_run(project=cast.project, scope=scope_of(cast, "tag=hard", pairs=pairs), by=cast.admin)
    both = {(each.item_id, each.other_id) for each in Judgment.objects.filter(run=run)}
    first, second = cast.items[0].pk, cast.items[1].pk
    assert both == {(first, second), (second, first)}
    assert planned(cast, "tag=hard", pairs=pairs).calls == 0


def test_several_dimensions_in_a_call_count_calls_of_these_items(cast: Cast) -> None:
    make_judge(cast.project, "several")
    found = planned(cast, "tag=hard")
    assert found.calls == 4


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("tga=hard", "Items cannot be filtered by “tga”"),
        ("raters=many", "Items cannot be filtered by “raters”"),
        ("words=", "This filter finds all items"),
        ("tag=soft", "Items cannot be filtered by “tag”"),
        ("words=nowhere", "This filter finds no item"),
    ],
)
def test_filter_with_an_unintended_result_is_rejected(cast: Cast, query: str, says: str) -> None:
    with pytest.raises(InvalidValueError, match=says):
        filtered_items(cast.project, query)


def test_item_list_leads_to_a_run_on_the_filtered_items(client: Client, cast: Cast) -> None:
    judge = make_judge(cast.project)
    client.force_login(cast.admin)
    found = client.get(f"/projects/{cast.project.slug}/items/", {"tag": "hard"}).content.decode()
    assert f"/projects/{cast.project.slug}/judges/runs/new/?items=tag%3Dhard" in found
    assert "Have judges judge these" not in text_of(client.get(f"/projects/{cast.project.slug}/items/"))
    page = client.get(address(cast, "runs/new/"), {"items": "tag=hard"}).content.decode()
    assert 'value="tag=hard"' in page
    sent = {"judges": [judge.pk], "dimensions": ["fluency"], "items": "tag=hard", "via": "calls"}
    shown = client.post(address(cast, "runs/new/"), {**sent, "show": "plan"}, headers=HTMX)
    assert "judgments 4" in text_of(shown)
    wrong = client.post(address(cast, "runs/new/"), {**sent, "items": "x=1", "show": "plan"}, headers=HTMX)
    assert wrong.status_code == 422
    assert "cannot be filtered by “x”" in text_of(wrong)
    client.post(address(cast, "runs/new/"), sent)
    assert Run.objects.get().judgments.count() == 4


def test_the_command_takes_a_filter(cast: Cast) -> None:
    judge = make_judge(cast.project)
    out = StringIO()
    options = [cast.project.slug, "--judge", judge.name, "--dry-run"]
    call_command("judge", *options, "--items", "tag=hard", stdout=out)
    assert "4 calls" in out.getvalue() or "4 judgments" in out.getvalue()
    with pytest.raises(CommandError, match="cannot be filtered by “x”"):
        call_command("judge", *options, "--items", "x=1")


def test_run_about_units_asks_about_these_alone() -> None:
    cast = make_project(documents=2, systems=3, dimensions=("fluency", "coherence"))
    judge = make_judge(cast.project, samples=2, temperature=1)
    first, second = cast.dimensions[:2]
    items = [item.pk for item in cast.items]
    units = {first.pk: items[:3], second.pk: items[2:4]}
    scope = Scope([judge], [first.key, second.key], units=units)
    found = plan_of(cast.project, scope)
    assert (found.judgments, found.calls) == (10, 10)
    run = plan_run(project=cast.project, scope=scope, by=cast.admin)
    asked = Judgment.objects.filter(run=run).values_list("dimension", "item")
    assert set(asked) == {(key, item) for key, own in units.items() for item in own}
    assert plan_of(cast.project, scope).calls == 0
    assert plan_of(cast.project, Scope([judge], [first.key])).there == 6


def test_judge_of_several_dimensions_covers_all_of_a_unit() -> None:
    cast = make_project(dimensions=("fluency", "coherence"))
    judge = make_judge(cast.project, "several")
    first, *_ = cast.dimensions
    scope = Scope([judge], [each.key for each in cast.dimensions], units={first.pk: [cast.items[0].pk]})
    assert plan_of(cast.project, scope).calls == 1
    run = plan_run(project=cast.project, scope=scope, by=cast.admin)
    assert Judgment.objects.filter(run=run).count() == 2
