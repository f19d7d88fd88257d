"""The page of trust: one verdict for each dimension, from figures that are those of their own pages."""

from typing import Any

import pytest
from django.test import Client

from annotate.results.commands import compute_page
from annotate.results.registry import result_of
from annotate.results.table import Table
from judges.routing.commands.certificates import compute_certificates, draw_calibration
from tests.factories import Cast
from tests.judges.certified import (
    calibrated_project,
    calibration_spec,
    first_says,
    rate_all_units,
    rate_sample,
)
from tests.judges.factories import make_judge, make_judgments
from tests.judges.pages import text_of


def tables(cast: Cast, page: str, **asked: str) -> dict[str, Table]:
    kept = compute_page(project=cast.project, result=result_of(cast.project, page, asked))
    return {table.key: table for table in kept.tables}


def verdicts(cast: Cast) -> dict[str, tuple[str, str]]:
    rows = tables(cast, "trust")["verdicts"].rows
    return {row[0].key: (str(row[2].value), row[3].link) for row in rows}


def evidence(cast: Cast, dimension: str) -> dict[str, Any]:
    rows = tables(cast, "trust")["evidence"].rows
    return {row[1].key: row[2] for row in rows if row[0].key == dimension}


@pytest.mark.django_db
def test_a_certificate_that_holds_is_the_verdict_and_leads_to_its_page(client: Client) -> None:
    cast = calibrated_project()
    assert "Not known: these texts have no ratings" in verdicts(cast)["fluency"][0]
    calibration = draw_calibration(project=cast.project, spec=calibration_spec(cast, size=61), by=cast.admin)
    rate_sample(cast, calibration)
    compute_certificates(calibration=calibration, by=cast.admin)
    found = verdicts(cast)
    assert found["fluency"][0].startswith("It may decide ")
    assert found["fluency"][1].endswith(f"/judges/certificates/{calibration.pk}/")
    assert found["coherence"][0].startswith("Do not use it: its alpha with people is -")
    assert found["coherence"][1].endswith("/results/judges/")
    certificate = calibration.certificates.get(dimension__key="fluency")
    assert evidence(cast, "fluency")["certificate"].value == certificate.kept_share
    client.force_login(cast.admin)
    answer = client.get(f"/projects/{cast.project.slug}/results/trust/")
    page, html = text_of(answer), answer.content.decode()
    assert f'<a href="{found["fluency"][1]}">See the certificate</a>' in html
    assert found["fluency"][0] in page
    evidence_tab = client.get(answer.request["PATH_INFO"], {"table": "evidence"}).content.decode()
    assert f'<a href="/projects/{cast.project.slug}/results/replacement/">Replacement</a>' in evidence_tab


@pytest.mark.django_db
def test_each_value_matches_its_page(client: Client) -> None:
    cast = calibrated_project(annotators=3)
    rate_all_units(cast, annotators=3)
    own = evidence(cast, "fluency")
    alphas, correlations = (
        next(
            row
            for row in tables(cast, "judges")[key].rows
            if row[0].value == "Reasoner" and row[1].key == "fluency"
        )
        for key in ("alphas", "correlations")
    )
    columns = [column.key for column in tables(cast, "judges")["alphas"].columns]
    assert own["alpha"] == alphas[columns.index("with_mean")]
    columns = [column.key for column in tables(cast, "judges")["correlations"].columns]
    assert own["agreement"] == correlations[columns.index("spearman_dataset")]
    spread = next(row for row in tables(cast, "reliability")["spread"].rows if row[0].value == "Fluency")
    columns = [column.key for column in tables(cast, "reliability")["spread"].columns]
    assert own["indicator"].value == spread[columns.index("median")].value
    tested = next(row for row in tables(cast, "replacement")["tests"].rows if row[0].key == "fluency")
    assert own["replacement"].value == tested[2].value
    (joined,) = (row for row in tables(cast, "replacement")["one-more-rater"].rows if row[0].key == "fluency")
    assert own["one-more-rater"] == joined[3]


@pytest.mark.django_db
def test_judge_of_many_errors_lowers_agreement() -> None:
    """On coherence people say the same and the judge is always wrong."""
    cast = calibrated_project(annotators=3)
    rate_all_units(cast, annotators=3)
    rows = tables(cast, "trust")["evidence"].rows
    (row,) = [each for each in rows if (each[0].key, each[1].key) == ("coherence", "one-more-rater")]
    assert row[1].link.endswith("/results/replacement/")
    assert row[2].high is not None
    assert row[2].high < 0
    assert str(row[3].value).startswith("It lowers agreement. With the judge as one more rater alpha is ")
    assert str(row[3].value).endswith(", and among people 1.000.")


@pytest.mark.django_db
def test_before_round_one_alpha_cannot_change() -> None:
    found = evidence(calibrated_project(), "fluency")["one-more-rater"]
    assert (found.value, found.reason) == (
        None,
        "No ratings yet: alpha needs the Round I ratings of two annotators or more.",
    )


@pytest.mark.django_db
def test_a_judge_without_one_to_pair_it_with_has_no_r() -> None:
    cast = calibrated_project()
    alone = make_judge(cast.project, "direct", name="Alone")
    make_judgments(alone, cast, first_says)
    rows = tables(cast, "trust", judge=str(alone.pk))["evidence"].rows
    (found,) = [row[2] for row in rows if row[1].key == "indicator" and row[0].key == "fluency"]
    assert (found.value, found.reason) == (
        None,
        "R needs an RTS and an MCQ judge of one model, both with values.",
    )
