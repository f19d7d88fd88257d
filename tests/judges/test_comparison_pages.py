"""Judges beside people in the browser and from the command line."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils.html import escape

from annotate.commands.rounds import close_round_one
from annotate.models import Assignment, Role
from judges.queries.comparison import comparison
from tests.annotate.rounds import opened, rate
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.judges.pages import address, file_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client):
    """Four items that two people rate 1 to 4, and a judge that says the same."""
    cast = make_project(annotators=2, raters_per_item=2)
    round = opened(cast)
    for value, item in enumerate(cast.items, start=1):
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    judge = make_judge(cast.project, name="Echo")
    for value, item in enumerate(cast.items, start=1):
        make_judgment(judge, item, cast.dimensions[0], value=value)
    client.force_login(cast.admin)
    return cast


def test_the_table_sets_judges_beside_people(client, cast):
    page = text_of(client.get(address(cast, "beside-people/")))
    assert "at the end of Round I" in page
    assert "Echo Fluency 4 1.000" in page


def test_a_judges_page_shows_its_figures_by_system(client, cast):
    judge = cast.project.judges.get()
    page = text_of(client.get(address(cast, f"{judge.pk}/beside-people/")))
    assert "system-1 2 2.000 2.000" in page
    assert "system-2 2 3.000 3.000" in page


def test_its_tables_are_taken_away_with_its_figures(client, cast):
    (judge,) = cast.project.judges.all()
    (fluency,) = comparison(cast.project, [judge], seed=cast.project.seed).judges[0].scoring
    (row,) = file_of(client, cast, client.get(address(cast, "beside-people/")).content.decode(), "scoring")
    assert [row["judge"], row["items"], row["correct"], row["compared"]] == ["Echo", "4", "1", "1"]
    assert float(row["with_mean"]) == fluency.alpha.with_mean.value
    assert float(row["spearman"]) == fluency.correlations["dataset"]["spearman"].value
    page = client.get(address(cast, f"{judge.pk}/beside-people/")).content.decode()
    agreement = {row["coefficient"]: row["value"] for row in file_of(client, cast, page, "agreement")}
    assert float(agreement[fluency.alpha.among_people.label]) == fluency.alpha.among_people.value
    assert all(escape(label) in page for label in agreement)
    systems = file_of(client, cast, page, "systems")
    assert [[row["system"], row["human_mean"], row["judge_mean"]] for row in systems] == [
        ["system-1", "2.0", "2.0"],
        ["system-2", "3.0", "3.0"],
    ]


def test_the_command_says_the_same(cast):
    out = StringIO()
    call_command("compare_judges", cast.project.slug, "--json", stdout=out)
    (judge,) = json.loads(out.getvalue())["judges"]
    (fluency,) = judge["dimensions"]
    assert (judge["judge"], fluency["dimension"], fluency["judged"]) == ("Echo", "fluency", 4)
    assert fluency["correlations"]["dataset"]["spearman"]["value"] == pytest.approx(1)
    assert fluency["correlations"]["dataset"]["spearman"]["interval"] is None
    assert fluency["alpha"]["with_mean"]["value"] == pytest.approx(1)


def test_without_people_what_needs_them_is_undefined_and_says_why(client):
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], value=3)
    client.force_login(cast.admin)
    page = text_of(client.get(address(cast, "beside-people/")))
    assert "Nobody has rated yet" in page
    assert "undefined No person has rated these items yet." in page


def test_a_project_without_judges_says_so(client, cast):
    empty = make_project()
    client.force_login(empty.admin)
    assert "There is no judge yet" in text_of(client.get(address(empty, "beside-people/")))
    with pytest.raises(CommandError, match="no such judge"):
        call_command("compare_judges", empty.project.slug)


@pytest.mark.parametrize("who", ["outsider", "annotator"])
def test_others_find_nothing(client, cast, who):
    client.force_login(cast.outsider if who == "outsider" else cast.annotators[0].user)
    assert client.get(address(cast, "beside-people/")).status_code == 404


def test_who_rates_in_an_open_round_one_sees_no_comparison(client):
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], value=3)
    opened(cast)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    client.force_login(cast.admin)
    for page in ("beside-people/", f"{judge.pk}/beside-people/"):
        assert client.get(address(cast, page)).status_code == 403
        assert page not in client.get(address(cast)).content.decode()
    client.force_login(cast.researcher)
    assert client.get(address(cast, "beside-people/")).status_code == 200


def test_researchers_read(client, cast):
    client.force_login(cast.researcher)
    assert client.get(address(cast, "beside-people/")).status_code == 200


def test_the_number_of_queries_does_not_grow_with_judgments(client, cast, django_assert_num_queries):
    assert Assignment.objects.count() == 8
    client.get(address(cast, "beside-people/"))
    other = make_judge(cast.project, name="Other")
    for item in cast.items:
        make_judgment(other, item, cast.dimensions[0], value=2)
    with django_assert_num_queries(12):
        client.get(address(cast, "beside-people/"))


def test_a_judge_that_compares_is_shown_by_pairs_the_better_system_first(client, cast):
    judge = make_judge(cast.project, "h2h", name="Versus")
    for worse, better in [(cast.items[0], cast.items[1]), (cast.items[2], cast.items[3])]:
        make_judgment(judge, worse, cast.dimensions[0], other=better, value=0)
        make_judgment(judge, better, cast.dimensions[0], other=worse, value=1)
    page = text_of(client.get(address(cast, f"{judge.pk}/beside-people/")))
    assert "system-2 – system-1 2.000 2 100 %" in page
    assert "100 % of comparisons are the same after swapping 1 of 1" in text_of(
        client.get(address(cast, "beside-people/"))
    )
    page = client.get(address(cast, f"{judge.pk}/beside-people/")).content.decode()
    (pair,) = file_of(client, cast, page, "pairs")
    held = [pair[name] for name in ("first", "second", "points", "documents", "consistency")]
    assert held == ["system-2", "system-1", "2.0", "2", "1.0"]
    page = client.get(address(cast, "beside-people/")).content.decode()
    (versus,) = file_of(client, cast, page, "comparing")
    held = [versus[name] for name in ("judge", "consistency", "correct", "compared")]
    assert held == ["Versus", "1.0", "1", "1"]
