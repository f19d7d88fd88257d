"""May a judge replace an annotator: the page and the command say what the test says."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from agreement import Stream
from agreement.comparison import Scores, judge_as_one_more_rater
from agreement.reliability import alternative_annotator_test, plan_replacement
from annotate.core.models import Item, Role
from annotate.templatetags.figures import decimals
from judges.core.models import Judgment
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge
from tests.judges.measured import let_judge, rated_at_once
from tests.judges.pages import address, text_of
from tests.results.reading import cells_of, csv_of

pytestmark = pytest.mark.django_db
PAGE = "replacement/"
DOCUMENTS, SYSTEMS = 20, 2
TRUTH = [1 + index * 7 % 5 for index in range(DOCUMENTS * SYSTEMS)]
PEOPLE = [
    [min(5, max(1, value + (index + rater) % 3 - 1)) for index, value in enumerate(TRUTH)]
    for rater in range(3)
]


def tried(client, judge, people=PEOPLE):
    cast = make_project(documents=DOCUMENTS, systems=SYSTEMS)
    rated_at_once(cast, people)
    let_judge(make_judge(cast.project, name="Candidate"), cast, judge)
    client.force_login(cast.admin)
    return cast


OF_DOCUMENT = [index // SYSTEMS for index in range(DOCUMENTS * SYSTEMS)]
OF_SYSTEM = [index % SYSTEMS for index in range(DOCUMENTS * SYSTEMS)]


def expected(cast, judge, epsilon=0.2):
    texts = Item.objects.filter(document__project=cast.project).order_by("pk").values_list("text", flat=True)
    return alternative_annotator_test(
        PEOPLE,
        judge,
        epsilon=epsilon,
        generator=Stream(cast.project.seed).of("judge", "Candidate", cast.dimensions[0].key),
        documents=OF_DOCUMENT,
        systems=OF_SYSTEM,
        lengths=[len(text) for text in texts],
    )


def test_command_matches_the_test_clustered_by_document(client):
    cast = tried(client, TRUTH)
    out = StringIO()
    call_command("replacement", cast.project.slug, "--epsilon", "0.15", "--json", stdout=out)
    section, _ = json.loads(out.getvalue())["sections"]
    tests, annotators, *_ = section["tables"]
    wanted = expected(cast, TRUTH, 0.15)
    own, *controls = tests["rows"]
    assert (own[2]["value"], own[3]["value"]) == (wanted.winning_rate, wanted.advantage)
    assert "is corrected over the annotators of a dimension" in annotators["says"]
    assert [row[5]["value"] for row in annotators["rows"]] == [each.p_value for each in wanted.annotators]
    assert [row[1]["key"] for row in controls] == ["constant", "system", "length", "shuffled"]
    for row in controls:
        control = wanted.controls[row[1]["key"]]
        assert (row[2]["value"], row[3]["value"]) == (control.test.winning_rate, control.test.advantage)
        assert (row[4]["value"], row[4]["low"], row[4]["high"]) == (control.gain, *control.interval)
        assert row[5]["value"] == ("beaten" if control.is_beaten else "not surely beaten")


def test_tables_download_with_their_values(client):
    cast = tried(client, TRUTH)
    page = client.get(address(cast, PAGE), {"epsilon": "0.15"}, follow=True).content.decode()
    wanted = expected(cast, TRUTH, 0.15)
    own, *controls = csv_of(client, cast.project, "replacement", "tests", epsilon="0.15")
    held = [[float(row["winning_rate"]), float(row["advantage"])] for row in (own, *controls)]
    tests = (wanted, *(each.test for each in wanted.controls.values()))
    assert held == [[each.winning_rate, each.advantage] for each in tests]
    assert all(decimals(each.advantage) in page for each in tests)
    lows = [float(row["beyond_low"]) for row in controls]
    assert lows == [each.interval[0] for each in wanted.controls.values()]
    assert "one value for each system" in page
    assert "epsilon: 0.15" in own["advantage_how"]
    annotators = csv_of(client, cast.project, "replacement", "annotators", epsilon="0.15")
    assert [float(row["p_value"]) for row in annotators] == [each.p_value for each in wanted.annotators]


def test_corrected_judgments_are_excluded_on_request(client):
    cast = tried(client, TRUTH)
    Judgment.objects.filter(item__in=cast.items[:4]).update(is_corrected=True)
    wanted = expected(cast, [float("nan")] * 4 + TRUTH[4:])
    own, *_ = cells_of(cast.project, "replacement", "tests", corrected="left-out")
    assert (own["winning_rate"].value, own["advantage"].value) == (wanted.winning_rate, wanted.advantage)
    annotators = cells_of(cast.project, "replacement", "annotators", corrected="left-out")
    assert [row["units"].value for row in annotators] == [36] * 3
    assert [row["units"].value for row in cells_of(cast.project, "replacement", "annotators")] == [40] * 3


def test_judge_equal_to_the_mean_may_replace_an_annotator(client):
    cast = tried(client, TRUTH)
    page = text_of(client.get(address(cast, PAGE), follow=True))
    passes = (
        "Passes: the judge may stand in for 100% of the annotators, half or more, and it beats every control."
    )
    assert passes in page
    own, *_, shuffled = cells_of(cast.project, "replacement", "tests")
    assert (own["winning_rate"].value, shuffled["winning_rate"].value) == (1, 0)
    assert [row["units"].value for row in cells_of(cast.project, "replacement", "annotators")] == [40] * 3
    assert "Round I is still open" in page


def test_alpha_with_the_judge_appears_on_the_page(client):
    cast = tried(client, TRUTH)
    (row,) = cells_of(cast.project, "replacement", "one-more-rater")
    scores = Scores(systems=OF_SYSTEM, documents=OF_DOCUMENT, human=PEOPLE, judge=TRUTH)
    wanted = judge_as_one_more_rater(
        scores,
        measurement_level=cast.dimensions[0].measurement_level,
        generator=Stream(cast.project.seed).of("judge", "Candidate", cast.dimensions[0].key),
    )
    found = row["difference"]
    interval = wanted.difference.interval
    assert interval is not None
    assert (found.value, found.low, found.high) == (wanted.difference.value, interval.low, interval.high)
    assert found.value == pytest.approx(row["with_judge"].value - row["among_people"].value)
    assert row["effect"].value == "does not lower agreement"


def test_a_constant_judge_fails(client):
    cast = tried(client, [3] * 40)
    page = text_of(client.get(address(cast, PAGE), follow=True))
    assert "Fails: the judge may stand in for" in page


def test_too_few_units_are_reported(client):
    few = [[value if index < 29 else None for index, value in enumerate(row)] for row in PEOPLE]
    cast = tried(client, TRUTH, few)
    sentence = "No annotator has 30 units that another annotator and the judge rated too."
    assert sentence in text_of(client.get(address(cast, PAGE), follow=True))
    out = StringIO()
    call_command("replacement", cast.project.slug, stdout=out)
    assert sentence in out.getvalue()


def test_page_without_people_states_the_requirement(client):
    cast = make_project()
    let_judge(make_judge(cast.project), cast, [1, 2, 3, 4])
    client.force_login(cast.admin)
    page = text_of(client.get(address(cast, PAGE), follow=True))
    assert "There are no ratings yet: the test needs the Round I ratings of three annotators or more." in page


def test_page_and_command_report_a_missing_judge(client):
    cast = make_project()
    client.force_login(cast.admin)
    assert "No judge that gives scores has judgments yet" in text_of(
        client.get(address(cast, PAGE), follow=True)
    )
    with pytest.raises(CommandError, match="No judge that gives scores has judgments yet"):
        call_command("replacement", cast.project.slug)


def test_unlisted_epsilon_is_rejected(client):
    cast = tried(client, TRUTH)
    assert client.get(address(cast, PAGE), {"epsilon": "0.9"}, follow=True).status_code == 404
    page = client.get(address(cast, PAGE), {"epsilon": "0.1"}, follow=True).content.decode()
    assert '<option value="0.1" selected>' in page


def test_rater_in_open_round_one_sees_no_test(client):
    cast = tried(client, TRUTH)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    assert client.get(address(cast, PAGE)).status_code == 403
    client.force_login(cast.outsider)
    assert client.get(address(cast, PAGE)).status_code == 404


def test_the_number_of_queries_is_fixed(client, django_assert_num_queries):
    cast = tried(client, TRUTH)
    page = reverse("results_page", args=[cast.project.slug, "replacement"])
    client.get(page)
    with django_assert_num_queries(13):
        client.get(page)
    let_judge(make_judge(cast.project, name="Second"), cast, TRUTH)
    client.get(page)
    with django_assert_num_queries(13):
        client.get(page)


def test_required_documents_match_the_plan(client):
    cast = tried(client, TRUTH)
    (row,) = cells_of(cast.project, "replacement", "power-of-test")
    stream = Stream(cast.project.seed).of("judge", "Candidate", cast.dimensions[0].key)
    plan = plan_replacement(expected(cast, TRUTH), epsilon=0.2, generator=stream)
    assert plan.documents is not None
    assert (row["documents"].value, row["needed"].value) == (DOCUMENTS, plan.documents)
    assert row["power_today"].value == plan.power_today


def test_a_judge_that_cannot_pass_needs_no_number_of_documents(client):
    cast = tried(client, [6 - value for value in TRUTH])
    (row,) = cells_of(cast.project, "replacement", "power-of-test")
    assert row["needed"].reason.startswith("The judge as it is loses to 3 of 3 annotators by epsilon or more")
