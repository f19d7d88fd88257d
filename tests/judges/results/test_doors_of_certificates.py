"""The figures of certificates by every door: the page, its files, the command, and routing by them."""

import csv
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotate.results.table import Cell, Column, ColumnKind
from annotate.results.text import MINUS, number
from judges.core.models import Calibration, Certificate, RoutingPolicy
from judges.core.specification import policy_from_certificates
from judges.routing.commands.certificates import compute_certificates, draw_calibration
from judges.routing.commands.policies import make_policy
from judges.routing.queries.calibration_state import calibration_state, certificates_tables
from judges.routing.queries.preview import routing_plan
from tests.api.client import ApiClient, concord
from tests.factories import Cast
from tests.judges.certified import calibrated_project, calibration_spec, rate_sample
from tests.judges.pages import text_of

pytestmark = pytest.mark.django_db
MEASURED = ("threshold", "kept_share", "kept", "units", "errors", "accepted", "upper_bound", "ceiling")
KEPT = ("significance_level", "reason", "rated", "missing", "risk_of_unrated", "steps", "controls")
IN_STEPS = {"threshold": "threshold", "units": "units", "rated": "accepted", "wrong": "lost"}
STEPS = {**IN_STEPS, "bound": "bound", "p_value": "p_value"}


@pytest.fixture
def cast(client: Client) -> Cast:
    cast = calibrated_project()
    client.force_login(cast.admin)
    return cast


@pytest.fixture
def calibration(cast: Cast) -> Calibration:
    """Certify one of two dimensions, with figures that no rounding leaves as they are."""
    made = draw_calibration(project=cast.project, spec=calibration_spec(cast, size=61), by=cast.admin)
    rate_sample(cast, made, leave_out=5)
    compute_certificates(calibration=made, by=cast.admin)
    made.refresh_from_db()
    return made


@pytest.fixture
def policy(cast: Cast, calibration: Calibration) -> RoutingPolicy:
    spec = policy_from_certificates(
        calibration, name="By certificates", raters=2, audit_share=0.2, audit_least=0
    )
    return make_policy(project=cast.project, spec=spec, by=cast.admin)


def certificates_of(calibration: Calibration) -> dict[str, Certificate]:
    found = {each.dimension.name: each for each in calibration.certificates.select_related("dimension")}
    assert {name for name, each in found.items() if each.threshold is not None} == {"Fluency"}
    assert found.keys() == {"Fluency", "Coherence"}
    return found


def test_page_files_have_every_value(client: Client, calibration: Calibration) -> None:
    found = certificates_of(calibration)
    rows = rows_of(client, calibration, "certificates")
    assert [row["dimension"] for row in rows] == list(found)
    for row in rows:
        certificate = found[row["dimension"]]
        for name in MEASURED:
            assert row[name] == written(getattr(certificate, name)), name
    steps = [
        (name, *(written(step[key]) for key in STEPS.values()))
        for name, certificate in found.items()
        for step in certificate.steps
    ]
    assert steps
    tested = rows_of(client, calibration, "thresholds")
    assert [(row["dimension"], *(row[column] for column in STEPS)) for row in tested] == steps


def test_the_page_markdown_and_latex_say_them_alike(client: Client, calibration: Calibration) -> None:
    page = text_of(client.get(address(calibration)))
    for table in certificates_tables(calibration_state(calibration)):
        files = [
            client.get(f"{address(calibration)}{table.key}.{each}").content.decode() for each in ("md", "tex")
        ]
        for cell, column in figures_in(table.rows, table.columns):
            shown = number(float(cell.value or 0), column)
            assert shown in page, (column.key, shown)
            assert shown.replace("<", r"\<") in files[0]
            assert in_latex(shown) in files[1]


def test_command_has_every_value(cast: Cast, calibration: Calibration) -> None:
    shown = concord(cast.admin, "certificates", "show", cast.project.slug, calibration.pk)
    said = {each["dimension"]: each["certificate"] for each in shown["dimensions"]}
    for certificate in certificates_of(calibration).values():
        plain = said[certificate.dimension.key]
        assert {name: plain[name] for name in (*MEASURED, *KEPT)} == {
            name: getattr(certificate, name) for name in (*MEASURED, *KEPT)
        }


def test_api_has_every_value_and_its_cautions(cast: Cast, calibration: Calibration) -> None:
    home, program = f"projects/{cast.project.slug}/certificates/", ApiClient(cast.admin)
    (row,) = program.get(home).json()["results"]
    answer = program.get(f"{home}{calibration.pk}/").json()
    assert answer["calibration"] == row
    assert (row["judge"], row["other"], row["status"]) == ("Reasoner", "Chooser", "certified")
    state = calibration_state(calibration)
    assert answer["can_route"] is state.can_route is True
    for said, each in zip(answer["dimensions"], state.dimensions, strict=True):
        certificate = each.certificate
        assert certificate is not None
        assert {name: said["certificate"][name] for name in (*MEASURED, *KEPT)} == {
            name: getattr(certificate, name) for name in (*MEASURED, *KEPT)
        }
        assert (said["dimension"], said["says"]) == (each.dimension.key, each.says)
        assert (said["warnings"], said["lapses"]) == (each.warnings, each.lapses)


def test_routing_keeps_the_certified_units(client: Client, cast: Cast, policy: RoutingPolicy) -> None:
    """As planned, on the policy's page, by the API and by the command."""
    assert policy.calibration is not None
    found = certificates_of(policy.calibration)
    kept = sum(each.kept for each in found.values())
    decided = routing_plan(policy, cast.project).decided.certified
    assert [(each.kept, each.units) for each in decided] == [
        (each.kept, each.units) for each in found.values()
    ]
    of_api = ApiClient(cast.admin).get(f"projects/{cast.project.slug}/policies/{policy.pk}/").json()
    assert (of_api["kept"], of_api["sent"]) == (kept, of_api["all_units"] - kept)
    fluency = found["Fluency"]
    page = text_of(client.get(f"/projects/{cast.project.slug}/judges/routing/{policy.pk}/"))
    confidence = number(float(fluency.threshold or 0), Column("threshold", ""))
    going = fluency.units - fluency.kept
    assert f"Fluency judge where its confidence is at least {confidence} {fluency.kept} {going}" in page
    out = StringIO()
    call_command("route", cast.project.slug, "--certificates=First", "--dry-run", stdout=out)
    assert f"fluency: {fluency.kept} units stay." in out.getvalue()
    assert "coherence: 0 units stay." in out.getvalue()


def address(calibration: Calibration) -> str:
    return f"/projects/{calibration.project.slug}/judges/certificates/{calibration.pk}/"


def rows_of(client: Client, calibration: Calibration, key: str) -> list[dict[str, str]]:
    content = client.get(f"{address(calibration)}{key}.csv").content.decode()
    return list(csv.DictReader(StringIO(content, newline="")))


def in_latex(text: str) -> str:
    return text.replace(MINUS, "$-$").replace("%", r"\%").replace("<", r"\textless{}")


def written(value: object) -> str:
    return "" if value is None else str(value)


def figures_in(rows: Any, columns: Any) -> Iterator[tuple[Cell, Column]]:
    for row in rows:
        for cell, column in zip(row, columns, strict=True):
            if column.kind is not ColumnKind.TEXT and cell.value is not None:
                yield cell, column
