"""Judges on the results pages: figures of the functions, counts by hand, and what they said about a unit."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from agreement import bias, spearman
from agreement.comparison import Level, alpha_with_people, correlation_with_humans
from judges.core.models import Judge, Judgment
from judges.results.queries.pairings import measured_judges, usual_pairing
from judges.results.queries.reliability import reliability_report
from tests.factories import Cast
from tests.judges.measured import PEOPLE, RTS, as_scores, measured_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client: Client) -> Cast:
    made = measured_project()
    client.force_login(made.researcher)
    return made


def rows(client: Client, cast: Cast, key: str) -> list[dict[str, str]]:
    answer = client.get(reverse("result_file", args=[cast.project.slug, "judges", key, "csv"]))
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))


def reasoner() -> Judge:
    return Judge.objects.get(name="Reasoner")


def test_correlations_alpha_and_bias_match_the_functions(client: Client, cast: Cast) -> None:
    scores = as_scores()
    found = {row["judge"]: row for row in rows(client, cast, "correlations")}["Reasoner"]
    for level in Level:
        expected = correlation_with_humans(scores, spearman, level).value
        assert float(found[f"spearman_{level}"]) == pytest.approx(expected)
    alphas = {row["judge"]: row for row in rows(client, cast, "alphas")}["Reasoner"]
    beside = alpha_with_people(scores, measurement_level=cast.dimensions[0].measurement_level)
    assert float(alphas["with_mean"]) == pytest.approx(beside.with_mean.value)
    assert float(alphas["among_people"]) == pytest.approx(beside.among_people.value)
    differences = {row["judge"]: row for row in rows(client, cast, "differences")}["Reasoner"]
    assert float(differences["bias"]) == pytest.approx(bias(scores.judge, scores.human_means).value)


def test_confusion_counts_every_rating_once(client: Client, cast: Cast) -> None:
    table = rows(client, cast, f"judge-{reasoner().pk}-confusion")
    pairs = [(person, judge) for values in PEOPLE for person, judge in zip(values, RTS, strict=True)]
    for row in table:
        for value in range(1, 6):
            assert int(row[f"judge_{value}"]) == pairs.count((int(row["person"]), value))
    assert len(table) == 5


def test_scatter_has_every_item_and_quality_appears_with_agreement(client: Client, cast: Cast) -> None:
    points = rows(client, cast, f"judge-{reasoner().pk}-scatter")
    assert sum(int(row["items"]) for row in points) == len(RTS)
    quality = rows(client, cast, f"judge-{reasoner().pk}-quality")
    assert float(quality[0]["quality"]) == pytest.approx(
        sum(values[index] for values in PEOPLE for index in range(0, 12, 3)) / 8
    )
    for key in ("scatter", "quality"):
        address = reverse(
            "result_file", args=[cast.project.slug, "judges", f"judge-{reasoner().pk}-{key}", "svg"]
        )
        assert b'role="img"' in client.get(address).content


def test_r_matches_the_reliability_page(client: Client, cast: Cast) -> None:
    report = reliability_report(cast.project, usual_pairing(measured_judges(cast.project)))
    expected = [cells[0].indicator for _, cells in report.rows]
    found = rows(client, cast, "indicator")
    assert [float(row["fluency"]) for row in found] == [each.value for each in expected]
    lows = [each.interval.low if each.interval else "" for each in expected]
    assert [row["fluency_low"] and float(row["fluency_low"]) for row in found] == lows


def test_new_judgments_change_the_values(client: Client, cast: Cast) -> None:
    before = rows(client, cast, "differences")
    Judgment.objects.filter(judge=reasoner(), value=1).first().delete()  # type: ignore[union-attr]
    assert rows(client, cast, "differences") != before


def test_the_page_of_a_unit_has_what_judges_said(client: Client, cast: Cast) -> None:
    item = cast.items[0]
    Judgment.objects.filter(judge=reasoner(), item=item).update(rationale="It names no aspect.")
    unit = client.get(reverse("disagreement", args=[cast.project.slug, item.pk, "fluency"]))
    part = reverse("unit_judgments", args=[cast.project.slug, item.pk, "fluency"])
    assert f'hx-get="{part}"' in unit.content.decode()
    loaded = client.get(part, headers={"HX-Request": "true"}).content.decode()
    assert "It names no aspect." in loaded
    assert "<html" not in loaded
    assert "Chooser" in loaded
    assert "<html" in client.get(part).content.decode()


def test_page_reports_missing_judges(client: Client) -> None:
    bare = measured_project(rts=[], mcq=[])
    client.force_login(bare.researcher)
    html = client.get(reverse("results_page", args=[bare.project.slug, "judges"])).content.decode()
    assert "There is no judge yet" in html
