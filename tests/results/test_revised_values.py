"""Results with revised values: both alphas, and nothing else moves."""

import json
from collections.abc import Iterable
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.api.commands import SCOPES, make_token
from annotate.core.models import Assignment, ComputedResult, Project
from annotate.quality.commands import decide_counting
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.revising import revise_value
from annotate.results.commands import current_page
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import UnknownChoiceError, result_of, version_of
from annotate.results.table import Table
from tests.factories import Cast, make_project
from tests.rating.rounds import frozen, opened, rate

pytestmark = pytest.mark.django_db

ROWS = [(1, 2, 3, 4), (1, 2, 3, 2)]


def rated(*, revises: bool = True) -> Cast:
    cast = make_project(annotators=2, raters_per_item=2)
    choose_plan(project=cast.project, kind="everyone", revises_documents=revises)
    round = opened(cast)
    for annotator, values in zip(cast.annotators, ROWS, strict=True):
        for item, value in zip(cast.items, values, strict=True):
            rate(cast, round, annotator, item, value)
    return cast


def revise(cast: Cast, annotator: int, item: int, value: int) -> None:
    places = Assignment.objects.select_related("round", "annotator")
    revise_value(
        assignment=places.get(annotator=cast.annotators[annotator], item=cast.items[item]),
        dimension=frozen(cast.project.rounds.get()),
        value=value,
        by=cast.annotators[annotator].user,
    )


def agreement(project: Project, **chosen: str) -> KeptPage:
    return current_page(project=project, result=result_of(project, "agreement", chosen))


def plain(tables: Iterable[Table]) -> list[str]:
    return [json.dumps(table.as_dict()) for table in tables]


def test_both_alphas_stand_beside_each_other_and_all_else_is_independent() -> None:
    cast = rated()
    before = plain(agreement(cast.project).tables)
    revise(cast, 0, 3, 2)  # both hold 2 now
    revise(cast, 0, 2, 4)
    revise(cast, 0, 2, 3)  # and back
    ComputedResult.objects.all().delete()
    assert plain(agreement(cast.project).tables) == before
    kept = agreement(cast.project, values="revised")
    table = kept.table("revised")
    assert table is not None
    (row,) = table.rows
    name, independent, revised, difference, changed, later, values = row
    # Interval level, (n - 1) sum o d / sum n n d. Before: o_24 = 1, n = 2 3 2 1; after: all pairs equal.
    first = 1 - 7 * 8 / (2 * (2 * 3 * 1 + 2 * 2 * 4 + 2 * 1 * 9 + 3 * 2 * 1 + 3 * 1 * 4 + 2 * 1 * 1))
    assert name.key == "fluency"
    assert independent.value == pytest.approx(first)
    assert revised.value == pytest.approx(1)
    assert difference.value == pytest.approx(1 - first)
    assert (changed.value, later.value, values.value) == (1, 0, 8)
    assert plain(each for each in kept.tables if each.key != "revised") == before


def change(cast: Cast, annotator: int, item: int, *values: int) -> None:
    for value in values:
        rate(cast, cast.project.rounds.get(), cast.annotators[annotator], cast.items[item], value)


def changed_later(cast: Cast) -> object:
    table = agreement(cast.project, values="revised").table("revised")
    assert table is not None
    place = [column.key for column in table.columns].index("changed_later")
    return table.rows[0][place].value


def test_independent_values_that_changed_after_the_comparison_are_counted() -> None:
    cast = make_project(annotators=2, raters_per_item=2)  # two documents of two items
    choose_plan(project=cast.project, kind="everyone", revises_documents=True)
    opened(cast)
    change(cast, 0, 0, 1, 2)  # before the other item of its document was rated
    change(cast, 0, 1, 3)
    change(cast, 0, 2, 4, 5)  # its document was never rated to the end
    change(cast, 1, 0, 1)
    assert changed_later(cast) == 0
    change(cast, 0, 0, 4, 2)  # there and back is one value
    change(cast, 0, 1, 3)  # the same again is none
    assert changed_later(cast) == 1
    change(cast, 1, 1, 5)
    change(cast, 1, 0, 2)
    assert changed_later(cast) == 2
    decide_counting(place=cast.annotators[1], counted=False, note="Left.", by=cast.admin)
    assert changed_later(cast) == 1


def test_only_the_result_with_revised_values_is_computed_anew() -> None:
    cast = rated()

    def version(values: str) -> str:
        return version_of(result_of(cast.project, "agreement", {"values": values}), cast.project)

    before = version("independent"), version("revised")
    revise(cast, 0, 3, 2)
    assert version("independent") == before[0]
    assert version("revised") != before[1]
    agreement(cast.project)
    agreement(cast.project, values="revised")
    names = set(ComputedResult.objects.values_list("name", flat=True))
    assert names == {f"agreement?drawn=documents&values={each}" for each in ("independent", "revised")}


def test_the_page_the_api_and_the_command_offer_it_only_where_values_are_revised(client) -> None:
    cast, plain = rated(), rated(revises=False)
    revise(cast, 0, 3, 2)
    for user, project in ((cast.admin, cast.project), (plain.admin, plain.project)):
        client.force_login(user)
        page = client.get(reverse("results_page", args=[project.slug, "agreement"]))
        assert ("with revised values" in page.content.decode()) == (project == cast.project)
    client.force_login(cast.admin)
    address = f"/api/v1/projects/{cast.project.slug}/results/agreement/"
    _, secret = make_token(user=cast.admin, name="t", scopes=SCOPES, lasts=timedelta(days=1))
    told = client.get(address, {"values": "revised"}, headers={"Authorization": f"Bearer {secret}"})
    sections = told.json()["sections"]
    assert "revised" in [table["key"] for section in sections for table in section["tables"]]
    out = StringIO()
    call_command("agreement", cast.project.slug, "--values", "revised", "--json", stdout=out)
    printed = json.loads(out.getvalue())["sections"]
    assert [each["title"] for each in printed][1] == "With revised values"
    with pytest.raises(CommandError, match="nothing to choose for --values"):
        call_command("agreement", plain.project.slug, "--values", "revised")
    with pytest.raises(UnknownChoiceError):
        result_of(cast.project, "agreement", {"values": "other"})


def test_it_takes_a_fixed_number_of_queries() -> None:
    cast = rated()
    result = result_of(cast.project, "agreement", {"values": "revised"})
    with CaptureQueriesContext(connection) as counted:
        result.page.sections(cast.project, result.chosen)
    assert len(counted) <= 14
