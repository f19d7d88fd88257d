"""The page of trust: one verdict for each dimension, from figures that are those of their own pages."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.test import Client

from annotate.results.commands import compute_page
from annotate.results.registry import result_of
from annotate.results.table import Table
from judges.reliability import Verdict
from judges.routing.commands.certificates import compute_certificates, draw_calibration
from judges.routing.queries.trust import TrustEvidence
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
    return {row[0].key: (str(row[1].value), row[2].link) for row in rows}


def evidence(cast: Cast, dimension: str) -> dict[str, Any]:
    rows = tables(cast, "trust")["evidence"].rows
    return {row[1].key: row[2] for row in rows if row[0].key == dimension}


@pytest.mark.django_db
def test_a_certificate_that_holds_is_the_verdict_and_leads_to_its_page(client: Client) -> None:
    cast = calibrated_project()
    assert "Not known: nobody has rated these texts" in verdicts(cast)["fluency"][0]
    calibration = draw_calibration(project=cast.project, spec=calibration_spec(cast, size=61), by=cast.admin)
    rate_sample(cast, calibration)
    compute_certificates(calibration=calibration, by=cast.admin)
    found = verdicts(cast)
    assert found["fluency"][0].startswith("It may be used for ")
    assert found["fluency"][1].endswith(f"/judges/certificates/{calibration.pk}/")
    assert found["coherence"][1].endswith("/judges/certificates/new/")
    certificate = calibration.certificates.get(dimension__key="fluency")
    assert evidence(cast, "fluency")["certificate"].value == certificate.kept_share
    client.force_login(cast.admin)
    answer = client.get(f"/projects/{cast.project.slug}/results/trust/")
    page, html = text_of(answer), answer.content.decode()
    assert f'<a href="{found["fluency"][1]}">See the certificate</a>' in html
    assert f'<a href="/projects/{cast.project.slug}/results/replacement/">Replacement</a>' in html
    assert found["fluency"][0] in page
    assert "Replacement" in page


@pytest.mark.django_db
def test_each_figure_is_that_of_its_page(client: Client) -> None:
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


def known(
    *,
    rated: bool = True,
    outcome: Verdict | None = None,
    validity: float | None = None,
    p_value: float | None = None,
    kept: int | None = None,
    constant: float | None = None,
) -> TrustEvidence:
    """Make what is known of a judge on a dimension; kept: of 100 units, by a certificate that holds."""
    human = np.array([[1.0, 2.0]]) if rated else np.array([[np.nan, np.nan]])
    controls = {"threshold": 1.0, "kept_share": constant, "value": 4.0} if constant else {"threshold": None}
    certificate = SimpleNamespace(
        valid=kept is not None,
        certificate=SimpleNamespace(
            kept=kept, units=100, kept_share=(kept or 0) / 100, controls={"constant": controls}
        ),
    )
    pair = SimpleNamespace(
        adjusted_p_value=p_value,
        figures=SimpleNamespace(validity=SimpleNamespace(correlation=SimpleNamespace(value=validity))),
    )
    scored: Any = SimpleNamespace(scores=SimpleNamespace(human=human))
    test: Any = SimpleNamespace(verdict=outcome)
    pairs: Any = pair
    state: Any = certificate
    calibration: Any = SimpleNamespace(pk=7)
    return TrustEvidence(scored, pairs, test, state if kept is not None else None, calibration)


@pytest.mark.parametrize(
    ("given", "says", "route"),
    [
        ({"kept": 60}, "It may be used for 60 of 100 units", "certificate"),
        ({"kept": 60, "constant": 0.4}, "It may be used for 60 of 100 units", "certificate"),
        ({"kept": 60, "constant": 0.6}, "a judge that always answers 4 is certified for 60%", "certificate"),
        ({"rated": False}, "Not known: nobody has rated", "certificate_new"),
        ({"outcome": Verdict.PASSES}, "It stands in for an annotator", "certificate_new"),
        ({"validity": 0.8, "p_value": 0.01}, "R tells on which systems", "routing_new"),
        ({"validity": 0.8, "p_value": 0.2}, "Not known", "certificate_new"),
        ({"validity": -0.8, "p_value": 0.01}, "Not known", "certificate_new"),
        ({"outcome": Verdict.LIKE_A_CONSTANT}, "a constant answer does as well", "results_page"),
        ({"outcome": Verdict.FAILS}, "it does not stand in for an annotator", "results_page"),
    ],
)
def test_the_verdict_is_read_from_the_strongest_evidence(
    given: dict[str, Any], says: str, route: str
) -> None:
    verdict = known(**given).verdict
    assert says in verdict.says
    assert verdict.route == route
