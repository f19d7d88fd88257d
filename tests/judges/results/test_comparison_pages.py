"""Judges and people in the browser and from the command line."""

import csv
import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotate.core.models import Assignment, Role
from annotate.rating.commands.rounds import close_round_one
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.judges.pages import address, text_of
from tests.rating.rounds import opened, rate

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


def page_of(cast):
    return reverse("results_page", args=[cast.project.slug, "judges"])


def rows(client, cast, key):
    answer = client.get(reverse("result_file", args=[cast.project.slug, "judges", key, "csv"]))
    assert answer.status_code == 200
    return list(csv.DictReader(StringIO(answer.content.decode())))


def command(*arguments):
    out = StringIO()
    call_command("compare_judges", *arguments, stdout=out)
    return out.getvalue()


def test_the_page_compares_judges_with_people(client, cast):
    assert "at the end of Round I" in text_of(client.get(page_of(cast)))
    (row,) = rows(client, cast, "scoring")
    held = [row[name] for name in ("judge", "dimension", "items", "correct", "compared")]
    assert held == ["Echo", "Fluency", "4", "1", "1"]
    found = [float(row[name]) for name in ("spearman", "with_mean", "among_people")]
    assert found == pytest.approx([1, 1, 1])
    (preferences,) = rows(client, cast, "preferences")
    assert [preferences[name] for name in ("share", "neighbours_correct", "neighbours_compared")] == [
        "1.0",
        "1",
        "1",
    ]


def test_a_judge_with_gaps_says_how_many_of_its_replies_were_read(client, capsys):
    cast = make_project(documents=4)
    judge, whole = make_judge(cast.project, name="Echo"), make_judge(cast.project, name="Whole")
    for number, item in enumerate(cast.items):
        unread = (
            {"status": "unreadable", "value": None, "reply": "Well.", "reason": "No score."}
            if number < 3
            else {}
        )
        make_judgment(judge, item, cast.dimensions[0], **unread)
        make_judgment(whole, item, cast.dimensions[0])
    # A second sample that was read is a value for the item.
    make_judgment(judge, cast.items[0], cast.dimensions[0], sample=1)
    client.force_login(cast.admin)
    said = "Echo on Fluency: 6 of 8 read; figures leave the others out."
    answer = client.get(page_of(cast))
    assert said in text_of(answer)
    assert "Whole on" not in text_of(answer)
    assert said in current_page(project=cast.project, result=result_of(cast.project, "judges", {})).warnings
    # The figures are what they are: the command says so, and has done what it was asked to.
    assert "Echo" in command(cast.project.slug)
    assert said in capsys.readouterr().err


def test_verdicts_that_were_not_read_are_said(client):
    cast = make_project()
    judge = make_judge(cast.project, "h2h", name="Chooser")
    make_judgment(judge, cast.items[0], cast.dimensions[0], other=cast.items[1], value=1)
    unread = {"status": "unreadable", "value": None, "reply": "Well.", "reason": "No score."}
    make_judgment(judge, cast.items[1], cast.dimensions[0], other=cast.items[0], **unread)
    client.force_login(cast.admin)
    assert "Chooser on Fluency: 1 of 2 read" in text_of(client.get(page_of(cast)))


def test_an_open_round_is_said_to_be_open(client):
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], value=3)
    opened(cast)
    client.force_login(cast.researcher)
    assert "at the end of Round I, which is still open." in text_of(client.get(page_of(cast)))


def test_a_judges_page_leads_to_its_section_which_shows_systems(client, cast):
    judge = cast.project.judges.get()
    answer = client.get(address(cast, f"{judge.pk}/beside-people/"))
    assert (answer.status_code, answer["Location"]) == (302, f"{page_of(cast)}#judge-{judge.pk}")
    assert f'id="judge-{judge.pk}"' in client.get(page_of(cast)).content.decode()
    found = rows(client, cast, f"judge-{judge.pk}-quality")
    assert [[row[name] for name in ("system", "items", "quality", "judge_mean")] for row in found] == [
        ["system-1", "2", "2.0", "2.0"],
        ["system-2", "2", "3.0", "3.0"],
    ]


def test_earlier_addresses_lead_to_the_page(client, cast):
    judge = cast.project.judges.get()
    answer = client.get(address(cast, "beside-people/scoring.csv"))
    assert (answer.status_code, answer["Location"]) == (302, page_of(cast))
    answer = client.get(address(cast, f"{judge.pk}/beside-people/systems.csv"))
    assert answer["Location"] == f"{page_of(cast)}#judge-{judge.pk}"


def test_samples_give_self_consistency(client, cast):
    judge = make_judge(cast.project, name="Often", samples=2)
    for sample in (0, 1):
        for value, item in enumerate(cast.items, start=1):
            make_judgment(judge, item, cast.dimensions[0], value=value, sample=sample)
    (row,) = rows(client, cast, f"judge-{judge.pk}-self-consistency")
    assert [row["samples"], row["alpha"]] == ["2", "1.0"]
    assert f"judge-{cast.project.judges.get(name='Echo').pk}-self-consistency" not in str(
        client.get(page_of(cast)).content
    )


def test_figures_of_people_are_the_same_beside_every_judge_and_on_their_own_pages(client, cast):
    other = make_judge(cast.project, name="Other")
    for value, item in zip([2, 1, 5, 4], cast.items, strict=True):
        make_judgment(other, item, cast.dimensions[0], value=value)
    first, second = rows(client, cast, "alphas")
    people = {name: first[name] for name in first if name.startswith("among_people")}
    assert people == {name: second[name] for name in people}
    means = client.get(reverse("result_file", args=[cast.project.slug, "systems", "means", "csv"]))
    expected = list(csv.DictReader(StringIO(means.content.decode())))
    own = rows(client, cast, f"judge-{other.pk}-quality")
    for part in ("", "_low", "_high"):
        assert [row[f"quality{part}"] for row in own] == [row[f"fluency{part}"] for row in expected]


def test_the_command_says_the_same(client, cast):
    answer = json.loads(command(cast.project.slug, "--round", "1", "--json"))
    together, echo = answer["sections"]
    assert (answer["project"], echo["title"], answer["chosen"]) == (cast.project.slug, "Echo", {"round": "1"})
    (row,) = together["tables"][0]["rows"]
    (from_page,) = rows(client, cast, "scoring")
    assert row[3]["value"] == float(from_page["spearman"])
    assert "| Echo | Fluency | 4 |" in command(cast.project.slug)


def test_the_command_prints_some_judges_only(cast):
    make_judgment(make_judge(cast.project, name="Other"), cast.items[0], cast.dimensions[0], value=2)
    printed = command(cast.project.slug, "--judge", "Other")
    assert "| Other | Fluency | 1 |" in printed
    assert "Echo" not in printed
    sections = json.loads(command(cast.project.slug, "--judge", "Echo", "--json"))["sections"]
    assert [each["title"] for each in sections] == ["All judges", "Echo"]
    with pytest.raises(CommandError, match="no such judge; there are: Echo, Other"):
        command(cast.project.slug, "--judge", "Nobody")


def test_without_people_what_needs_them_is_undefined_and_says_why(client):
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], value=3)
    client.force_login(cast.admin)
    page = text_of(client.get(page_of(cast)))
    assert "Nobody has rated yet" in page
    assert "No person has rated these items yet." in page


def test_a_project_without_judges_and_a_judge_without_judgments_say_so(client, cast):
    empty = make_project()
    client.force_login(empty.admin)
    assert "There is no judge yet" in text_of(client.get(page_of(empty)))
    with pytest.raises(CommandError, match="There is no judge yet"):
        command(empty.project.slug)
    make_judge(empty.project, name="Mute")
    assert "Mute This judge has no judgments yet." in text_of(client.get(page_of(empty)))


@pytest.mark.parametrize("who", ["outsider", "annotator"])
def test_others_find_nothing(client, cast, who):
    client.force_login(cast.outsider if who == "outsider" else cast.annotators[0].user)
    judge = cast.project.judges.get()
    for page in (page_of(cast), address(cast, f"{judge.pk}/beside-people/")):
        assert client.get(page).status_code == 404


def test_who_rates_in_an_open_round_one_sees_no_comparison(client):
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], value=3)
    opened(cast)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    client.force_login(cast.admin)
    for page in (page_of(cast), address(cast, f"{judge.pk}/beside-people/")):
        assert client.get(page).status_code == 403
        assert page not in client.get(address(cast)).content.decode()
    client.force_login(cast.researcher)
    assert client.get(page_of(cast)).status_code == 200
    assert page_of(cast) in client.get(address(cast)).content.decode()


def test_the_number_of_queries_does_not_grow_with_judgments(client, cast, django_assert_num_queries):
    assert Assignment.objects.count() == 8
    client.get(page_of(cast))
    with django_assert_num_queries(14):
        client.get(page_of(cast))
    other = make_judge(cast.project, name="Other")
    for item in cast.items:
        make_judgment(other, item, cast.dimensions[0], value=2)
    client.get(page_of(cast))
    with django_assert_num_queries(14):
        client.get(page_of(cast))


def test_a_judge_that_compares_is_shown_by_pairs_the_better_system_first(client, cast):
    judge = make_judge(cast.project, "h2h", name="Versus")
    for worse, better in [(cast.items[0], cast.items[1]), (cast.items[2], cast.items[3])]:
        make_judgment(judge, worse, cast.dimensions[0], other=better, value=0)
        make_judgment(judge, better, cast.dimensions[0], other=worse, value=1)
    (pair,) = rows(client, cast, f"judge-{judge.pk}-pairs")
    held = [pair[name] for name in ("first", "second", "points", "documents", "left_out", "consistency")]
    assert held == ["system-2", "system-1", "2.0", "2", "0", "1.0"]
    assert [pair["human_points"], pair["human_documents"]] == ["2.0", "2"]
    (versus,) = rows(client, cast, "comparing")
    held = [versus[name] for name in ("judge", "consistency", "favours_first", "correct", "compared")]
    assert held == ["Versus", "1.0", "0", "1", "1"]
