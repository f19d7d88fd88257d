"""Where judges can be trusted: the results page says what the pure functions say, by every door."""

import json
import re
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from agreement.comparison import CORRELATIONS
from agreement.reliability import DrawnWith, reliability, validity
from annotate.core.models import ComputedResult, Role
from annotate.templatetags.figures import decimals
from judges.core.models import CalibrationUnit, Judge, Judgment, RoutingPolicy
from judges.results.queries.pairings import first_judge, measured_judges, usual_pairing
from judges.results.queries.scores import stream_of_judge, stream_of_pair
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge
from tests.judges.measured import MCQ, PEOPLE, RTS, as_scores, let_judge, measured_project, rate_all
from tests.judges.pages import address, file_of, text_of, text_of_tabs
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


make_scene = measured_project


@pytest.fixture
def cast(client, cast):
    client.force_login(cast.admin)
    return cast


def page_of(cast, path=""):
    return f"/projects/{cast.project.slug}/results/reliability/{path}"


def printed(cast, *arguments):
    out = StringIO()
    call_command("reliability", cast.project.slug, *arguments, stdout=out)
    return out.getvalue()


def reported(cast, *arguments):
    """Return what the command prints as JSON: the rows of each table, cells by their columns' keys."""
    found = json.loads(printed(cast, "--json", *arguments))
    tables = [table for section in found["sections"] for table in section["tables"]]
    return {
        table["key"]: [
            {column["key"]: cell for column, cell in zip(table["columns"], row, strict=True)}
            for row in table["rows"]
        ]
        for table in tables
    }


def values(rows, column):
    return [row[column].get("value") for row in rows]


def drawn_with(cast, beside="Reasoner"):
    """The streams of the usual pair of judges."""
    rts, mcq = Judge.objects.get(name="Reasoner"), Judge.objects.get(name="Chooser")
    (dimension,) = cast.dimensions
    pair = stream_of_pair(cast.project, rts, mcq, dimension)
    own = stream_of_judge(cast.project, Judge.objects.get(name=beside), dimension)
    return DrawnWith(pair, own, pair.of("beside people", beside))


@pytest.mark.parametrize("coefficient", CORRELATIONS)
def test_command_output_matches_the_pure_functions(cast, coefficient):
    expected = reliability(as_scores(), MCQ, CORRELATIONS[coefficient])
    found = reported(cast, "--coefficient", coefficient)
    for side, name in (("indicator", "fluency"), ("agreement", "fluency"), ("quality", "quality")):
        of_systems = [getattr(each, side).value for each in expected.systems]
        assert values(found[side], name) == pytest.approx(of_systems)
    assert [row["fluency"]["count"] for row in found["indicator"]] == [4, 4, 4]
    (reading,) = found["validity"]
    assert reading["meta_correlation"]["value"] == pytest.approx(expected.meta_correlation.value)
    assert reading["p_value"]["value"] == pytest.approx(expected.validity.p_value)
    assert expected.indicator_spread
    assert found["spread"][0]["median"]["value"] == pytest.approx(expected.indicator_spread.median)


def test_tables_download_with_their_values(cast, client):
    page = client.get(page_of(cast), {"coefficient": "kendall_tau_b"}).content.decode()
    found = reported(cast, "--coefficient", "kendall_tau_b")
    for key in ("indicator", "agreement"):
        for row, each in zip(file_of(client, cast, page, key), found[key], strict=True):
            assert row["system"] == each["system"]["value"]
            figure = each["fluency"].get("value")
            assert (row["fluency"] or None) == (figure and str(figure))
    (reading,) = file_of(client, cast, page, "validity")
    (expected,) = found["validity"]
    assert (reading["reading"], float(reading["systems"])) == (expected["reading"]["value"], 3)
    assert float(reading["meta_correlation"]) == expected["meta_correlation"]["value"]
    median = file_of(client, cast, page, "spread")[0]["median"]
    assert float(median) == found["spread"][0]["median"]["value"]
    assert [row["system"] for row in file_of(client, cast, page, "quality")] == values(
        found["quality"], "system"
    )


@pytest.mark.parametrize("asked", ["indicator.doc", "nothing.csv", "indicator.csv?coefficient=none"])
def test_file_of_an_impossible_request_is_not_found(cast, client, asked):
    assert client.get(page_of(cast, asked)).status_code == 404


@pytest.mark.parametrize("beside", ["Reasoner", "Chooser"])
def test_intervals_match_the_judge_streams(cast, beside):
    people = as_scores() if beside == "Reasoner" else as_scores(MCQ)
    other = MCQ if beside == "Reasoner" else RTS
    measure = CORRELATIONS["spearman"]
    expected = reliability(people, other, measure, drawn_with=drawn_with(cast, beside))
    found = reported(cast, "--compared-judge", "rts" if beside == "Reasoner" else "mcq")
    for side in ("indicator", "agreement"):
        for row, each in zip(found[side], expected.systems, strict=True):
            bounds = getattr(each, side).interval
            assert row["fluency"].get("low") == (bounds and bounds.low)
            assert row["fluency"].get("high") == (bounds and bounds.high)
    ComputedResult.objects.all().delete()
    assert reported(cast, "--compared-judge", "rts" if beside == "Reasoner" else "mcq") == found


def test_r_is_the_same_whichever_judge_is_compared_with_people_and_whatever_p_is_over(cast):
    usual = reported(cast)["indicator"]
    assert any("low" in row["fluency"] for row in usual)
    assert reported(cast, "--compared-judge", "mcq")["indicator"] == usual
    assert reported(cast, "--units", "fresh")["indicator"] == usual


def test_another_judge_or_dimension_changes_no_existing_value(cast):
    before = reported(cast)
    let_judge(make_judge(cast.project, "mcq", name="Third"), cast, RTS)
    after = reported(cast, "--mcq", "Chooser")
    assert after == before


def test_m_has_an_interval_over_documents(client):
    rts, people = np.random.default_rng(1).integers(1, 6, (2, 30)).tolist()
    cast = measured_project(rts=rts, mcq=rts, people=[people], documents=10)
    client.force_login(cast.admin)
    meta = reported(cast)["validity"][0]["meta_correlation"]
    assert "95 % interval: jackknife of documents" in meta["how"]
    shown = f"{decimals(meta['value'])} [{decimals(meta['low'])}, {decimals(meta['high'])}]"
    assert shown in printed(cast).replace("\\", "")
    low, high = (f"{meta[end]:.2f}".replace("-", "−") for end in ("low", "high"))
    assert f"{meta['value']:.2f} [{low}, {high}]".replace("-", "−") in text_of(client.get(page_of(cast)))


def test_p_can_use_the_other_judge(cast):
    expected = validity(as_scores(MCQ), RTS, CORRELATIONS["spearman"])
    (found,) = reported(cast, "--compared-judge", "mcq")["validity"]
    assert found["validity"]["value"] == pytest.approx(expected.correlation.value)


def test_the_page_shows_r_and_p_by_system_with_interval_and_items(client, cast):
    found = reported(cast)
    for key in ("indicator", "agreement"):
        html = client.get(page_of(cast), {"table": key}).content.decode()
        for row in found[key]:
            cell = row["fluency"]
            said = rf"{row['system']['value']}</th>.*?>{cell['value']:.2f}</button>.*?n = 4"
            assert re.search(said, html, re.DOTALL)
        assert f'data-chart="chart-{key}"' in html


def test_page_reports_the_meaning_of_r_and_the_number_of_systems(client, cast):
    found = validity(as_scores(), MCQ, CORRELATIONS["spearman"])
    page = client.get(page_of(cast)).content.decode()
    assert "No: R does not predict agreement with people" in page
    (row,) = file_of(client, cast, page, "validity")
    assert float(row["validity"]) == pytest.approx(found.correlation.value)
    assert float(row["p_value"]) == float(row["adjusted_p_value"]) == pytest.approx(found.p_value)
    assert row["systems"] == "3"


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
    answers = [others[system][document] for document in range(5) for system in range(7)]
    cast = measured_project(rts=rts, mcq=answers, people=[answers], documents=5, systems=7)
    (found,) = reported(cast)["validity"]
    assert found["reading"]["value"].startswith("Yes: the judge agrees more with people")
    assert found["p_value"]["value"] == pytest.approx(2 / 5040)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("indicator", "Reliability indicator R"),
        ("agreement", "Agreement with people P"),
        ("quality", "Quality of systems"),
        ("spread", "Range of R and P"),
    ],
)
def test_every_plot_has_a_description(client, cast, key, said):
    drawing = client.get(page_of(cast, f"{key}.svg")).content.decode()
    assert f'<title id="plot-{key}">{said}' in drawing


def test_names_cannot_break_out_of_a_plot(client, cast):
    cast.items[0].system.name = "<script>"
    cast.items[0].system.save()
    chart = client.get(page_of(cast), {"table": "indicator"})
    assert "<script>" not in chart.content.decode()
    assert r"\u003Cscript\u003E" in chart.content.decode()
    for answer in (chart, client.get(page_of(cast, "indicator.svg"))):
        assert "&lt;script&gt;" in answer.content.decode()
        assert "<script>:" not in answer.content.decode()


def test_page_describes_the_computation(client, cast):
    page = text_of_tabs(client, page_of(cast))
    assert "Shen and others 2023" in page
    assert f"the project’s seed {cast.project.seed}" in page
    assert f'manage.py reliability {cast.project.slug} --rts "Reasoner" --mcq "Chooser"' in page


def test_r_without_people_appears_alone(client):
    cast = measured_project(people=[])
    client.force_login(cast.admin)
    page = text_of_tabs(client, page_of(cast))
    assert "No one has rated these items yet" in page
    assert "Not known yet: no person has rated these items yet." in page
    found = reported(cast)
    assert set(found) == {"indicator", "validity", "spread"}
    assert found["indicator"][0]["fluency"]["value"] == pytest.approx(0.8)  # 1 - 6 * 2 / (4 * 15)


def test_people_on_one_system_leave_the_meaning_of_r_unknown(client):
    only = [[value if index % 3 == 0 else None for index, value in enumerate(given)] for given in PEOPLE]
    cast = measured_project(people=only)
    client.force_login(cast.admin)
    page = text_of_tabs(client, page_of(cast))
    assert "Not known yet: only one system has both" in page
    assert "Round I, which is still open" in page


def test_constant_model_has_no_r_and_the_cell_has_a_reason(client):
    cast = measured_project(rts=[5] * 12)
    client.force_login(cast.admin)
    reason = "Every value of the judge is 5; a correlation needs values that differ."
    found = reported(cast)
    for key in ("indicator", "agreement"):
        assert [row["fluency"]["reason"] for row in found[key]] == [reason] * 3
    page = text_of_tabs(client, page_of(cast))
    assert reason in page
    for key in ("indicator", "quality", "spread"):
        assert client.get(page_of(cast, f"{key}.svg")).status_code == 200


def test_fewer_than_three_items_of_a_system_are_reported(client):
    cast = measured_project(rts=RTS[:6], mcq=MCQ[:6], people=[], documents=2)
    client.force_login(cast.admin)
    assert "3 are needed" in text_of_tabs(client, page_of(cast))


@pytest.mark.parametrize(
    ("rts", "mcq", "missing"),
    [(RTS, [], "No MCQ judge"), ([], MCQ, "No RTS judge"), ([], [], "No RTS and no MCQ judge")],
)
def test_page_and_command_name_the_missing_one_of_the_two(client, rts, mcq, missing):
    cast = measured_project(rts=rts, mcq=mcq, people=[])
    client.force_login(cast.admin)
    response = client.get(page_of(cast))
    assert response.status_code == 200
    assert f"{missing} has judgments yet" in text_of(response)
    with pytest.raises(CommandError, match=f"{missing} has judgments yet"):
        call_command("reliability", cast.project.slug)


def test_the_usual_pair_is_of_one_model(cast):
    let_judge(make_judge(cast.project, "rts", name="A stranger", model="other"), cast, RTS)
    pair = usual_pairing(measured_judges(cast.project))
    assert (pair.rts.name, pair.mcq.name, pair.warning) == ("Reasoner", "Chooser", "")


def test_usual_pair_among_equals_is_the_oldest(cast):
    let_judge(make_judge(cast.project, "rts", name="Another wording"), cast, RTS)
    let_judge(make_judge(cast.project, "mcq", name="And of choices"), cast, MCQ)
    judges = measured_judges(cast.project)
    pair = usual_pairing(judges)
    assert (pair.rts.name, pair.mcq.name) == ("Reasoner", "Chooser")
    assert first_judge(judges).name == "Reasoner"


def test_pair_of_two_models_appears_with_a_warning(client, cast):
    stranger = let_judge(make_judge(cast.project, "rts", name="Stranger", model="other"), cast, MCQ)
    page = text_of_tabs(client, page_of(cast), {"rts": stranger.pk})
    assert "whether two models agree, not whether one agrees with itself" in page
    assert page.count("1.00") >= 3
    assert "whether two models agree" not in text_of_tabs(client, page_of(cast))


def test_a_judge_that_is_not_there_is_not_found(client, cast):
    chooser = Judge.objects.get(name="Chooser")
    for asked in ({"rts": 0}, {"rts": chooser.pk}, {"coefficient": "kappa"}):
        assert client.get(page_of(cast), asked).status_code == 404
    with pytest.raises(CommandError, match="There is no RTS judge “Chooser” here; there are: "):
        printed(cast, "--rts", "Chooser")


def test_policy_units_count_and_can_be_excluded(client, cast):
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
    page = text_of_tabs(client, page_of(cast))
    assert "3 of the 12 rated units were used to choose r of a policy" in page
    assert "P includes them" in page
    (row,) = reported(cast)["rated-units"]
    assert [row[key]["value"] for key in ("rated", "settling", "left_out")] == [12, 3, 0]
    people = np.array(PEOPLE, dtype=float)
    people[:, :3] = np.nan
    expected = reliability(as_scores(people=people), MCQ, CORRELATIONS["spearman"])
    found = reported(cast, "--units", "fresh")
    assert [row["fluency"]["count"] for row in found["agreement"]] == [3, 3, 3]
    assert values(found["agreement"], "fluency") == pytest.approx(
        [each.agreement.value for each in expected.systems]
    )
    assert found["rated-units"][0]["left_out"]["value"] == 3
    assert "P excludes them" in text_of_tabs(client, page_of(cast), {"units": "fresh"})


@pytest.mark.parametrize("who", ["outsider", "annotator"])
def test_others_find_nothing(client, cast, who):
    client.force_login(cast.outsider if who == "outsider" else cast.annotators[0].user)
    assert client.get(page_of(cast)).status_code == 404


def test_rater_in_open_round_one_sees_no_results_until_it_closes(client):
    cast = make_project()
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    client.force_login(cast.admin)
    assert client.get(page_of(cast)).status_code == 403
    lead = f"/projects/{cast.project.slug}/results/verdicts/"
    assert lead not in client.get(address(cast)).content.decode()
    client.force_login(cast.researcher)
    assert client.get(page_of(cast)).status_code == 200
    assert lead in client.get(address(cast)).content.decode()
    assert page_of(cast) in client.get(lead).content.decode()


def test_page_names_the_command_that_excludes_corrected_judgments(cast, client):
    Judgment.objects.filter(judge__name="Chooser", item=cast.items[0]).update(is_corrected=True)
    says = text_of_tabs(client, page_of(cast), {"corrected": "left-out"})
    assert "--coefficient spearman --corrected left-out --json" in says
    rows = reported(cast, "--corrected", "left-out")["indicator"]
    assert [row["fluency"]["count"] for row in rows] == [3, 4, 4]


def test_page_reads_stored_results_in_a_fixed_number_of_queries(client, cast, django_assert_num_queries):
    client.get(page_of(cast))
    with django_assert_num_queries(15):
        client.get(page_of(cast))
    let_judge(make_judge(cast.project, "mcq", name="Third"), cast, RTS)
    client.get(page_of(cast))
    with django_assert_num_queries(15):
        client.get(page_of(cast))


def test_the_command_prints_the_tables(cast):
    out = printed(cast)
    assert "Spearman's rho of Reasoner with Chooser over each system’s items" in out
    assert "| Fluency | No: R does not predict" in out
    assert re.search(r"\| system-1 \| 0\.800 \\\[", out)


def test_values_of_the_last_round_count_unless_another_is_chosen(cast):
    def said(project, *arguments):
        return json.loads(printed(project, "--json", *arguments))["chosen"].get("round")

    assert said(cast) == said(cast, "--round", "1") == "1"
    with pytest.raises(CommandError, match="There is no People’s values at the end of “2” here"):
        said(cast, "--round", "2")
    unrated = measured_project(people=[])
    assert said(unrated) is None
    rate_all(unrated, PEOPLE[:1])
    assert said(unrated) == "1"


def test_old_url_redirects_to_the_page(client, cast):
    answer = client.get(address(cast, "reliability/"), {"coefficient": "pearson"})
    assert (answer.status_code, answer["Location"]) == (302, f"{page_of(cast)}?coefficient=pearson")
    answer = client.get(address(cast, "reliability/indicator.csv"))
    assert answer["Location"] == page_of(cast)
