"""Judges and people in the browser and from the command line."""

import csv
import json
import math
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from agreement.always_valid import always_valid_differences
from agreement.design import documents_needed, smallest_difference_found
from annotate.core.models import Assignment, Role
from annotate.rating.commands.rounds import close_round_one
from annotate.results.commands import current_page
from annotate.results.registry import result_of
from judges.core.models import Judgment
from judges.runs.commands.corrections import exclude, include, set_value
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.judges.measured import measured_project
from tests.judges.pages import address, text_of
from tests.rating.rounds import opened, rate
from tests.results.reading import expect_in_files_and_api

pytestmark = pytest.mark.django_db


def make_scene():
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
    return cast


@pytest.fixture
def cast(client, cast):
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
    (texts,) = rows(client, cast, "text_preferences")
    assert [texts[name] for name in ("accuracy", "compared", "ties")] == ["1.0", "2", "0"]
    assert float(texts["accuracy_low"]) < 1
    (preferences,) = rows(client, cast, "preferences")
    assert [preferences[name] for name in ("share", "neighbours_correct", "neighbours_compared")] == [
        "1.0",
        "1",
        "1",
    ]


def test_judge_with_gaps_reports_the_readable_reply_count(client, capsys):
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
    said = "Echo on Fluency: 6 of 8 read; results exclude the others."
    answer = client.get(page_of(cast))
    assert said in text_of(answer)
    assert "Whole on" not in text_of(answer)
    assert said in current_page(project=cast.project, result=result_of(cast.project, "judges", {})).warnings
    # The figures are what they are: the command says so, and has done what it was asked to.
    assert "Echo" in command(cast.project.slug)
    assert said in capsys.readouterr().err


def test_judge_without_readable_replies_on_a_dimension_is_listed(client):
    cast = make_project(dimensions=("fluency", "coherence"), documents=4)
    judge = make_judge(cast.project, name="Echo")
    for item in cast.items:
        make_judgment(judge, item, cast.dimensions[0])
        make_judgment(
            judge,
            item,
            cast.dimensions[1],
            status="unreadable",
            value=None,
            reply="Well.",
            reason="No score.",
        )
    client.force_login(cast.admin)
    said = text_of(client.get(page_of(cast)))
    assert "Echo on Coherence: 0 of 8 read; results exclude the others." in said
    assert "Echo on Fluency" not in said


def test_two_judges_are_compared_and_the_page_names_the_better_one(client, cast):
    worse = make_judge(cast.project, name="Worse")
    for value, item in zip([2, 1, 4, 3], cast.items, strict=True):
        make_judgment(worse, item, cast.dimensions[0], value=value)
    (pair,) = rows(client, cast, "pairs-of-judges")
    assert [pair[name] for name in ("judge", "other_judge", "dimension", "items")] == [
        "Echo",
        "Worse",
        "Fluency",
        "4",
    ]
    # Ranks 1 2 3 4 against 2 1 4 3: rho is 1 - 6 x 4 / (4 x 15).
    assert float(pair["spearman"]) == pytest.approx(1 - 0.6)
    most = {row["figure"]: row for row in rows(client, cast, "most")}
    assert most["Spearman"]["highest"] == "Echo"
    assert (most["Spearman"]["sure"], most["Spearman"]["may_be_highest"]) == ("no", "Echo, Worse")
    assert "Which judge agrees most with people" in command(cast.project.slug)
    Judgment.objects.filter(judge=worse).delete()
    address_of_most = reverse("result_file", args=[cast.project.slug, "judges", "most", "csv"])
    assert client.get(address_of_most).status_code == 404


def test_judges_are_compared_on_common_items_on_request(client, cast):
    half = make_judge(cast.project, name="Half")
    for value, item in enumerate(cast.items[:2], start=1):
        make_judgment(half, item, cast.dimensions[0], value=value)

    def items(**chosen):
        found = current_page(project=cast.project, result=result_of(cast.project, "judges", chosen))
        table = found.table("scoring")
        assert table
        index = [column.key for column in table.columns].index("items")
        return {row[0].value: row[index].value for row in table.rows}

    assert items() == {"Echo": 4, "Half": 2}
    assert items(units="shared") == {"Echo": 2, "Half": 2}
    page = current_page(project=cast.project, result=result_of(cast.project, "judges", {"units": "shared"}))
    assert page.warnings == []
    said = "On each dimension only the items for which every judge has a value."
    assert said in text_of(client.get(page_of(cast), {"units": "shared"}))
    assert said not in text_of(client.get(page_of(cast)))


def test_corrected_judgments_are_excluded_on_request(client, cast):
    pairs = make_judge(cast.project, "h2h", name="Pairs")
    one, other = cast.items[:2]
    first = make_judgment(pairs, one, cast.dimensions[0], other=other, value=1)
    second = make_judgment(pairs, other, cast.dimensions[0], other=one, value=0)
    single = Judgment.objects.filter(judge__name="Echo", item=cast.items[0], dimension=cast.dimensions[0])

    def counts(**chosen):
        found = current_page(project=cast.project, result=result_of(cast.project, "judges", chosen))
        tables = [(found.table("scoring"), "items"), (found.table("comparing"), "consistent")]
        return {
            row[0].value: row[[column.key for column in table.columns].index(name)].value
            for table, name in tables
            if table
            for row in table.rows
        }

    assert counts(corrected="left-out") == counts()
    set_value(judgment=single.get(), value=5, note="Five.", by=cast.admin)
    # Excluded and included again its value is as before, and the kept page must not be the one of then.
    exclude(judgment=second, note="Another pair.", by=cast.admin)
    include(judgment=second, note="No.", by=cast.admin)
    before = counts()
    assert counts(corrected="left-out") == {"Echo": before["Echo"] - 1, "Pairs": before["Pairs"] - 1}
    said = "Without 2 judgments that a person corrected (Echo 1, Pairs 1)."
    answer = text_of(client.get(page_of(cast), {"corrected": "left-out"}))
    assert said in answer
    assert "Echo on Fluency: 3 of 4 read; results exclude the others." in answer
    assert "Echo on Fluency" not in text_of(client.get(page_of(cast)))
    exclude(judgment=first, note="Another pair.", by=cast.admin)
    include(judgment=first, note="No.", by=cast.admin)
    assert "Pairs" not in counts(corrected="left-out")


@pytest.mark.parametrize("name", ["judges", "reliability", "estimates", "replacement"])
def test_judge_pages_report_the_number_of_excluded_corrected_judgments(name):
    cast = measured_project()
    chosen = result_of(cast.project, name, {"corrected": "left-out"})

    def said():
        return current_page(project=cast.project, result=chosen).sections[0].says

    assert "No judgment with a value was corrected by a person, so all are included." in said()
    reasoner = Judgment.objects.filter(judge__name="Reasoner").order_by("pk")
    set_value(judgment=reasoner[0], value=5, note="Five.", by=cast.admin)
    exclude(judgment=reasoner[1], note="Another text.", by=cast.admin)
    assert "Without 1 judgment that a person corrected (Reasoner 1)." in said()
    reasoner.filter(status="done").update(is_corrected=True)
    assert "Without 11 judgments that a person corrected (Reasoner 11)." in said()


@pytest.mark.parametrize("name", ["reliability", "estimates", "replacement"])
def test_other_judge_pages_report_the_readable_reply_count(name):
    cast = make_project(documents=3)
    round = opened(cast)
    reasoner = make_judge(cast.project, name="Reasoner")
    chooser = make_judge(cast.project, "mcq", name="Chooser")
    unread = {"status": "unreadable", "value": None, "reply": "Well.", "reason": "No score."}
    for number, item in enumerate(cast.items):
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, 1 + number % 5)
        make_judgment(reasoner, item, cast.dimensions[0], **({} if number else unread))
        make_judgment(chooser, item, cast.dimensions[0], value=1 + number % 5)
    close_round_one(project=cast.project, by=cast.admin)
    chosen = {} if name == "reliability" else {"judge": str(reasoner.pk)}
    page = current_page(project=cast.project, result=result_of(cast.project, name, chosen))
    gaps = page.table("gaps")
    assert gaps
    (row,) = gaps.rows
    assert [cell.value for cell in row] == ["Reasoner", "Fluency", 5, 6]
    assert "Reasoner on Fluency: 5 of 6 read; results exclude the others." in page.warnings
    Judgment.objects.filter(judge=reasoner).update(status="done", value=3, reason="")
    page = current_page(project=cast.project, result=result_of(cast.project, name, chosen))
    assert page.table("gaps") is None
    Judgment.objects.filter(judge=reasoner, item__in=cast.items[:2]).update(is_corrected=True)
    page = current_page(project=cast.project, result=result_of(cast.project, name, chosen))
    assert page.table("gaps") is None, "they count unless that is chosen"
    left_out = chosen | {"corrected": "left-out"}
    page = current_page(project=cast.project, result=result_of(cast.project, name, left_out))
    assert "Reasoner on Fluency: 4 of 6 read; results exclude the others." in page.warnings


def test_unreadable_verdicts_are_reported(client):
    cast = make_project()
    judge = make_judge(cast.project, "h2h", name="Chooser")
    make_judgment(judge, cast.items[0], cast.dimensions[0], other=cast.items[1], value=1)
    unread = {"status": "unreadable", "value": None, "reply": "Well.", "reason": "No score."}
    make_judgment(judge, cast.items[1], cast.dimensions[0], other=cast.items[0], **unread)
    client.force_login(cast.admin)
    assert "Chooser on Fluency: 1 of 2 read" in text_of(client.get(page_of(cast)))


def test_open_round_is_reported_as_open(client):
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], value=3)
    opened(cast)
    client.force_login(cast.researcher)
    assert "at the end of Round I, which is still open." in text_of(client.get(page_of(cast)))


def test_a_judges_page_leads_to_its_section_which_shows_systems(client, cast):
    judge = cast.project.judges.get()
    answer = client.get(address(cast, f"{judge.pk}/beside-people/"))
    assert (answer.status_code, answer["Location"]) == (
        302,
        f"{page_of(cast)}?table=quality&judge={judge.pk}",
    )
    shown = client.get(answer["Location"]).content.decode()
    assert f'<option value="{judge.pk}" selected>' in shown
    assert f'id="judge-{judge.pk}-' in shown
    found = rows(client, cast, f"judge-{judge.pk}-quality")
    assert [[row[name] for name in ("system", "items", "quality", "judge_mean")] for row in found] == [
        ["system-1", "2", "2.0", "2.0"],
        ["system-2", "2", "3.0", "3.0"],
    ]


def test_earlier_urls_redirect_to_the_page(client, cast):
    judge = cast.project.judges.get()
    answer = client.get(address(cast, "beside-people/scoring.csv"))
    assert (answer.status_code, answer["Location"]) == (302, page_of(cast))
    answer = client.get(address(cast, f"{judge.pk}/beside-people/systems.csv"))
    assert answer["Location"] == f"{page_of(cast)}?table=quality&judge={judge.pk}"


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


def test_human_values_are_equal_for_every_judge_and_on_their_own_pages(client, cast):
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
    assert (answer["project"], echo["title"], answer["chosen"]) == (
        cast.project.slug,
        "Echo",
        {"round": "1", "units": "own", "corrected": "counted"},
    )
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


def test_human_statistics_without_people_are_undefined_with_a_reason(client):
    cast = make_project()
    judge = make_judge(cast.project)
    make_judgment(judge, cast.items[0], cast.dimensions[0], value=3)
    client.force_login(cast.admin)
    page = text_of(client.get(page_of(cast)))
    assert "There are no ratings yet" in page
    assert "No person has rated these items yet." in page


def test_missing_judges_and_missing_judgments_are_reported(client, cast):
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


def test_rater_in_open_round_one_sees_no_comparison(client):
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
    assert page_of(cast) in client.get(reverse("results", args=[cast.project.slug])).content.decode()


def test_the_number_of_queries_does_not_grow_with_judgments(client, cast, django_assert_num_queries):
    assert Assignment.objects.count() == 8
    client.get(page_of(cast))
    with django_assert_num_queries(13):
        client.get(page_of(cast))
    other = make_judge(cast.project, name="Other")
    for item in cast.items:
        make_judgment(other, item, cast.dimensions[0], value=2)
    client.get(page_of(cast))
    with django_assert_num_queries(13):
        client.get(page_of(cast))


def test_a_judge_that_compares_gives_systems_strengths_and_ranks(client):
    cast = make_project(documents=6)
    judge = make_judge(cast.project, "h2h", name="Versus")
    for number in range(6):
        one, other = cast.items[2 * number : 2 * number + 2]
        make_judgment(judge, one, cast.dimensions[0], other=other, value=1 if number else 0)
        make_judgment(judge, other, cast.dimensions[0], other=one, value=0.5)
    client.force_login(cast.admin)
    first, second = rows(client, cast, f"judge-{judge.pk}-strengths")
    assert [first[name] for name in ("system", "verdicts", "won", "tied")] == ["system-1", "12", "5", "6"]
    assert float(first["strength"]) == pytest.approx(-float(second["strength"]))
    assert float(first["strength_low"]) < float(first["strength"]) < float(first["strength_high"])
    assert first["people_reason"] == "People have given this system no scores."
    (versus,) = rows(client, cast, "comparing")
    assert 0.5 < float(versus["first_wins"]) < 1
    Judgment.objects.filter(item__in=cast.items[:4]).delete()
    first, _ = rows(client, cast, f"judge-{judge.pk}-strengths")
    assert first["strength_reason"] == "There are readable verdicts on 4 documents; 5 are needed."


def test_pairwise_judge_lists_pairs_with_the_better_system_first(client, cast):
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


def test_the_nearer_judge_is_sure_after_finished_documents(client):
    cast = make_project(documents=14, annotators=2, raters_per_item=2)
    round = opened(cast)
    right, wrong = (make_judge(cast.project, name=name) for name in ("Right", "Wrong"))
    for number, item in enumerate(cast.items):
        value = 2 + number % 3
        for annotator in cast.annotators[: 2 if number < 26 else 1]:
            rate(cast, round, annotator, item, value)
        make_judgment(right, item, cast.dimensions[0], value=value)
        make_judgment(wrong, item, cast.dimensions[0], value=value - 1)
    client.force_login(cast.admin)
    (pair,) = rows(client, cast, "nearer")
    assert (pair["documents"], float(pair["nearer"]), pair["sure"]) == ("13", 1.0, "yes")
    (expected,) = always_valid_differences([("", "", [1.0] * 13)], reach=1)
    assert float(pair["p_adjusted"]) == pytest.approx(expected.p_value)


def test_documents_needed_follow_from_the_spread_of_errors(client):
    cast = make_project(documents=12, annotators=2, raters_per_item=2)
    round = opened(cast)
    first, second = (make_judge(cast.project, name=name) for name in ("First", "Second"))
    for number, item in enumerate(cast.items):
        for annotator in cast.annotators:
            rate(cast, round, annotator, item, 3)
        make_judgment(first, item, cast.dimensions[0], value=3)
        make_judgment(second, item, cast.dimensions[0], value=3 + (number // 2) % 2)
    client.force_login(cast.admin)
    (power,) = rows(client, cast, "power-of-judges")
    deviation = math.sqrt(12 / 11 * 0.25)  # half of the documents have an error of 1, the others none
    assert float(power["difference"]) == -0.5
    assert int(power["needed"]) == documents_needed(0.5, deviation)
    assert float(power["smallest"]) == pytest.approx(smallest_difference_found(deviation, 12))
    assert "Which judge is nearer to people" in client.get(page_of(cast)).content.decode()


def test_page_of_judges_leaves_other_coefficients_to_files_and_api(client):
    cast = measured_project()
    client.force_login(cast.admin)
    judge = cast.project.judges.get(name="Reasoner").pk
    others = ["pearson", "kendall_tau_b"]
    levels = ("dataset", "system", "document")
    left_out = {
        "correlations": [f"{name}_{level}" for name in others for level in levels],
        f"judge-{judge}-quality": others,
        "meta": others,
        "validity": others,
        "differences": ["rmse"],
        "indicator-pearson": [],
        "indicator-kendall": [],
        f"judge-{judge}-scatter": [],
    }
    expect_in_files_and_api(client, cast.project, "judges", left_out)
