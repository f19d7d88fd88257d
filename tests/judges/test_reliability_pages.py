"""Where judges can be trusted: the page and the command say what the pure functions say."""

import json
import re
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotate.models import Role
from annotate.templatetags.figures import decimals
from judges.comparison import CORRELATIONS
from judges.models import CalibrationUnit, Judge, RoutingPolicy
from judges.queries.pairings import measured_judges, usual_pairing
from judges.reliability import agreement_with_humans, indicator, reliability, validity
from judges.templatetags.plots import heat
from tests.annotate.rounds import opened, rate
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge
from tests.judges.measured import MCQ, PEOPLE, RTS, as_scores, let_judge, measured_project, rate_all
from tests.judges.pages import address, file_of, text_of

pytestmark = pytest.mark.django_db
PAGE = "reliability/"


@pytest.fixture
def cast(client):
    cast = measured_project()
    client.force_login(cast.admin)
    return cast


def printed(cast, *arguments):
    out = StringIO()
    call_command("reliability", cast.project.slug, *arguments, stdout=out)
    return out.getvalue()


def reported(cast, *arguments):
    (dimension,) = json.loads(printed(cast, "--json", *arguments))["dimensions"]
    return dimension


@pytest.mark.parametrize("coefficient", CORRELATIONS)
def test_the_command_gives_what_the_pure_functions_give(cast, coefficient):
    measure, scores = CORRELATIONS[coefficient], as_scores()
    expected = reliability(scores, MCQ, measure)
    found = reported(cast, "--coefficient", coefficient)["figures"]
    for side in ("indicator", "agreement", "quality"):
        values = [each[side]["value"] for each in found["systems"]]
        assert values == pytest.approx([getattr(each, side).value for each in expected.systems])
    assert [each["items"] for each in found["systems"]] == [4, 4, 4]
    assert found["meta_correlation"]["value"] == pytest.approx(expected.meta_correlation.value)
    assert found["validity"]["p_value"] == pytest.approx(expected.validity.p_value)
    assert expected.indicator_spread
    assert found["indicator_spread"]["median"] == pytest.approx(expected.indicator_spread.median)


def test_its_tables_are_taken_away_with_its_figures(cast, client):
    page = client.get(address(cast, PAGE), {"coefficient": "kendall_tau_b"}).content.decode()
    found = reported(cast, "--coefficient", "kendall_tau_b")
    (dimension,) = cast.project.dimensions.all()
    systems = found["figures"]["systems"]
    for side, key in (("indicator", "indicator"), ("agreement", "agreement")):
        rows = file_of(client, cast, page, key)
        for row, each in zip(rows, systems, strict=True):
            assert row["system"] == each["system"]
            assert (row[dimension.key] or None) == (each[side]["value"] and str(each[side]["value"]))
            assert decimals(each[side]["value"]) in page or each[side]["value"] is None
    (reading,) = file_of(client, cast, page, "validity")
    assert (reading["reading"], float(reading["systems"])) == (found["reading"], 3)
    assert float(reading["meta_correlation"]) == found["figures"]["meta_correlation"]["value"]
    assert (
        float(file_of(client, cast, page, "spread")[0]["median"])
        == (found["figures"]["indicator_spread"]["median"])
    )
    assert [row["system"] for row in file_of(client, cast, page, "quality")] == [
        each["system"] for each in systems
    ]


@pytest.mark.parametrize("asked", ["indicator.pdf", "nothing.csv", "indicator.csv?coefficient=none"])
def test_there_is_no_file_of_what_cannot_be_asked(cast, client, asked):
    assert client.get(address(cast, f"{PAGE}{asked}")).status_code == 404


def test_intervals_are_those_of_the_projects_seed(cast):
    generator = np.random.default_rng(cast.project.seed)
    measure = CORRELATIONS["spearman"]
    expected = [
        *indicator(as_scores(), MCQ, measure, generator=generator),
        *agreement_with_humans(as_scores(), measure, generator=generator),
    ]
    systems = reported(cast)["figures"]["systems"]
    found = [each["indicator"] for each in systems] + [each["agreement"] for each in systems]
    for one, other in zip(found, expected, strict=True):
        bounds = other.coefficient.interval
        assert (one["interval"] and one["interval"]["low"]) == (bounds and bounds.low)
    assert reported(cast) == reported(cast)


def test_m_has_an_interval_over_documents(client):
    rts, people = np.random.default_rng(1).integers(1, 6, (2, 30)).tolist()
    cast = measured_project(rts=rts, mcq=rts, people=[people], documents=10)
    client.force_login(cast.admin)
    meta = reported(cast)["figures"]["meta_correlation"]
    assert meta["interval"]["method"].startswith("jackknife of documents")
    assert f"M: {meta['value']:.3f} [{meta['interval']['low']:.3f}, " in printed(cast)
    low, high = meta["interval"]["low"], meta["interval"]["high"]
    page = text_of(client.get(address(cast, PAGE)))
    assert f"{decimals(meta['value'])} [{decimals(low)}, {decimals(high)}]" in page


def test_p_can_be_that_of_the_other_judge(cast):
    expected = validity(as_scores(MCQ), RTS, CORRELATIONS["spearman"])
    found = reported(cast, "--beside-people", "mcq")["figures"]["validity"]
    assert found["correlation"]["value"] == pytest.approx(expected.correlation.value)


def test_the_page_shows_r_by_system_with_interval_and_items(client, cast):
    page = text_of(client.get(address(cast, PAGE)))
    for each in reliability(as_scores(), MCQ, CORRELATIONS["spearman"]).systems:
        assert f"{each.system} {each.indicator.value:.3f}" in page
        assert f"{each.system} {each.agreement.value:.3f}" in page
    assert page.count("4 items") == 6
    assert "95 % interval" in page


def test_the_page_says_whether_r_means_anything_and_with_how_many_systems(client, cast):
    found = validity(as_scores(), MCQ, CORRELATIONS["spearman"])
    page = text_of(client.get(address(cast, PAGE)))
    assert "No: R does not tell on which systems the judge agrees with people." in page
    row = rf"Fluency No: .*? {found.correlation.value:.3f} .*?{found.p_value:.3f} {found.p_value:.3f} 3 "
    assert re.search(row.replace("-", "−"), page)


def test_r_that_goes_with_p_may_be_used():
    """R rises with P from system to system: over 7 systems that is an order by chance in 2 of 5,040."""
    judge = [1, 2, 3, 4, 5]
    others = [
        [5, 4, 3, 2, 1],
        [4, 5, 3, 2, 1],
        [3, 5, 4, 1, 2],
        [3, 1, 5, 4, 2],
        [1, 4, 3, 2, 5],
        [2, 1, 3, 4, 5],
        judge,
    ]
    rts = [judge[document] for document in range(5) for _ in others]
    values = [others[system][document] for document in range(5) for system in range(7)]
    cast = measured_project(rts=rts, mcq=values, people=[values], documents=5, systems=7)
    found = reported(cast)
    assert found["trusted"] is True
    assert found["reading"].startswith("Yes")
    assert found["figures"]["validity"]["p_value"] == pytest.approx(2 / 5040)


def test_the_page_draws_each_system_and_says_the_same_in_a_table(client, cast):
    response = client.get(address(cast, PAGE))
    html, page = response.content.decode(), text_of(response)
    assert html.count("<circle") == 3
    quality = np.mean(PEOPLE, axis=0)[::3].mean()
    assert f"<title>system-1: quality {quality:.3f}, P " in html
    assert f"system-1 {quality:.3f}" in page
    assert 'role="img" aria-label="Fluency: quality of 3 systems against P' in html


@pytest.mark.parametrize(
    ("value", "colour"),
    [(0.5, "plus-5"), (0.499, "plus-4"), (1.0, "plus-7"), (0.0, "plus-0"), (-0.31, "minus-3")],
)
def test_a_cells_colour_follows_its_value(value, colour):
    found = indicator(as_scores(), MCQ, CORRELATIONS["spearman"])[0].coefficient
    assert heat(replace(found, value=value)) == f"heat heat-{colour}"


def test_names_cannot_break_out_of_a_plot(client, cast):
    cast.items[0].system.name = "<script>"
    cast.items[0].system.save()
    html = client.get(address(cast, PAGE)).content.decode()
    assert "<title>&lt;script&gt;: quality" in html


def test_the_page_says_how_it_was_computed(client, cast):
    page = text_of(client.get(address(cast, PAGE)))
    assert "judges.reliability.reliability" in page
    assert "Shen and others 2023" in page
    assert f"the project’s seed {cast.project.seed}" in page


def test_without_people_r_is_shown_and_nothing_is_made_up_beside_it(client):
    cast = measured_project(people=[])
    client.force_login(cast.admin)
    page = text_of(client.get(address(cast, PAGE)))
    assert "Nobody has rated these items yet" in page
    assert "system-1 0.800" in page  # 1 - 6 * 2 / (4 * 15)
    assert "It cannot be said yet: no person has rated these items yet." in page
    assert "quality" not in page


def test_people_on_one_system_only_do_not_tell_what_r_means(client):
    only = [[value if index % 3 == 0 else None for index, value in enumerate(values)] for values in PEOPLE]
    cast = measured_project(people=only)
    client.force_login(cast.admin)
    page = text_of(client.get(address(cast, PAGE)))
    assert "It cannot be said yet: only one system has both" in page
    assert "Round I, which is still open" in page


def test_a_model_that_answers_one_value_to_all_has_no_r_and_the_cell_says_why(client):
    cast = measured_project(rts=[5] * 12)
    client.force_login(cast.admin)
    page = text_of(client.get(address(cast, PAGE)))
    assert page.count("undefined Every value of the judge is 5; a correlation needs values that differ.") == 6
    assert "There is nothing to draw: P is undefined for every system." in page


def test_fewer_than_three_items_of_a_system_say_so(client):
    cast = measured_project(rts=RTS[:6], mcq=MCQ[:6], people=[], documents=2)
    client.force_login(cast.admin)
    assert "3 are needed" in text_of(client.get(address(cast, PAGE)))


@pytest.mark.parametrize(
    ("rts", "mcq", "missing"),
    [(RTS, [], "No MCQ judge"), ([], MCQ, "No RTS judge"), ([], [], "No RTS and no MCQ judge")],
)
def test_without_one_of_the_two_the_page_and_the_command_say_which(client, rts, mcq, missing):
    cast = measured_project(rts=rts, mcq=mcq, people=[])
    client.force_login(cast.admin)
    response = client.get(address(cast, PAGE))
    assert response.status_code == 200
    assert f"{missing} has judgments yet" in text_of(response)
    with pytest.raises(CommandError, match=f"{missing} has judgments yet"):
        call_command("reliability", cast.project.slug)


def test_the_usual_pair_is_of_one_model(cast):
    let_judge(make_judge(cast.project, "rts", name="A stranger", model="other"), cast, RTS)
    pair = usual_pairing(measured_judges(cast.project))
    assert (pair.rts.name, pair.mcq.name, pair.warning) == ("Reasoner", "Chooser", "")


def test_a_pair_of_two_models_is_shown_with_a_warning(client, cast):
    stranger = let_judge(make_judge(cast.project, "rts", name="Stranger", model="other"), cast, MCQ)
    page = text_of(client.get(address(cast, PAGE), {"rts": stranger.pk}))
    assert "whether two models agree, not whether one agrees with itself" in page
    assert page.count("1.000") >= 3


def test_a_judge_that_is_not_there_is_refused(client, cast):
    chooser = Judge.objects.get(name="Chooser")
    for asked in ({"rts": 0}, {"rts": chooser.pk}, {"coefficient": "kappa"}):
        response = client.get(address(cast, PAGE), asked)
        assert response.status_code == 422
        assert "Select a valid choice" in text_of(response)
    with pytest.raises(
        CommandError, match="There is no RTS judge 'Chooser' with judgments; there are: Reasoner"
    ):
        printed(cast, "--rts", "Chooser")


def test_units_that_settled_a_policy_are_counted_and_left_out_when_asked(client, cast):
    rts, mcq = Judge.objects.get(name="Reasoner"), Judge.objects.get(name="Chooser")
    round = cast.project.rounds.get(number=1)
    fields = {"threshold": 0.5, "raters": 1, "seed": 1, "rts": rts, "mcq": mcq}
    policies = {
        status: RoutingPolicy.objects.create(
            project=cast.project, name=status, status=status, round=round, routed_at=timezone.now(), **fields
        )
        for status in ("routed", "withdrawn")
    }
    settled = {"routed": cast.items[:3], "withdrawn": cast.items}
    for status, items in settled.items():
        for item in items:
            CalibrationUnit.objects.create(policy=policies[status], item=item, dimension=cast.dimensions[0])
    page = text_of(client.get(address(cast, PAGE)))
    assert "Of 12 rated units 3 settled r of a policy" in page
    assert "P counts them" in page
    people = np.array(PEOPLE, dtype=float)
    people[:, :3] = np.nan
    expected = reliability(as_scores(people=people), MCQ, CORRELATIONS["spearman"])
    found = reported(cast, "--fresh")["figures"]["systems"]
    assert [each["rated"] for each in found] == [3, 3, 3]
    assert [each["agreement"]["value"] for each in found] == pytest.approx(
        [each.agreement.value for each in expected.systems]
    )
    assert "P leaves them out" in text_of(client.get(address(cast, PAGE), {"units": "fresh"}))
    assert "3 settled a policy or a certificate of these judges; P is over all." in printed(cast)


@pytest.mark.parametrize("who", ["outsider", "annotator"])
def test_others_find_nothing(client, cast, who):
    client.force_login(cast.outsider if who == "outsider" else cast.annotators[0].user)
    assert client.get(address(cast, PAGE)).status_code == 404


def test_who_rates_in_an_open_round_one_sees_no_results_until_it_is_closed(client):
    cast = make_project()
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    client.force_login(cast.admin)
    assert client.get(address(cast, PAGE)).status_code == 403
    assert PAGE not in client.get(address(cast)).content.decode()
    client.force_login(cast.researcher)
    assert client.get(address(cast, PAGE)).status_code == 200
    assert PAGE in client.get(address(cast)).content.decode()


def test_the_number_of_queries_does_not_grow(client, cast, django_assert_num_queries):
    client.get(address(cast, PAGE))
    with django_assert_num_queries(13):
        client.get(address(cast, PAGE))
    let_judge(make_judge(cast.project, "mcq", name="Third"), cast, RTS)
    with django_assert_num_queries(13):
        client.get(address(cast, PAGE))


def test_the_command_prints_the_table(cast):
    out = printed(cast)
    assert "R of Reasoner with Chooser, P of Reasoner; Spearman's rho." in out
    assert "Fluency. Does R mean anything here? No: R does not tell" in out
    assert re.search(r"system-1 +4 +0\.800 \[.*\] +4 +\d\.\d{3}", out)


def test_the_last_rounds_values_count(cast):
    assert json.loads(printed(cast, "--json"))["round"] == 1
    unrated = measured_project(people=[])
    assert json.loads(printed(unrated, "--json"))["round"] is None
    rate_all(unrated, PEOPLE[:1])
    assert json.loads(printed(unrated, "--json"))["round"] == 1
