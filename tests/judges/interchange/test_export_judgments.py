"""What judges add to an export."""

import json
from decimal import Decimal
from typing import Any

import pytest

from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from judges.core.models import Judgment
from judges.routing.commands.certificates import compute_certificates, draw_calibration
from tests.factories import Cast, make_project
from tests.judges.certified import calibrated_project, calibration_spec, rate_sample
from tests.judges.factories import make_judge, make_judgment, make_priced_endpoint, make_run, make_template
from tests.judges.measured import measured_project

pytestmark = pytest.mark.django_db


def exported(cast: Cast, table: str) -> list[dict[str, Any]]:
    lines = b"".join(export_table(cast.project, TABLES[table], "jsonl")).decode()
    return [json.loads(line) for line in lines.split("\n") if line]


def test_judgment_exports_with_its_reply_and_usage() -> None:
    cast = make_project(documents=1)
    judge = make_judge(cast.project, name="Reasoner")
    first, second = cast.items
    make_judgment(
        judge, first, cast.dimensions[0], value=4, reply="4, fine", rationale="fine", cost="0.00000012"
    )
    make_judgment(
        judge,
        second,
        cast.dimensions[0],
        value=None,
        status="unreadable",
        reason="No score.",
        reply="?",
    )
    done, unreadable = exported(cast, "judgments")
    assert [done[name] for name in ("judge", "document", "system", "dimension", "run", "status")] == [
        "Reasoner", "product-1", "system-1", "fluency", 1, "done"
    ]  # fmt: skip
    assert (done["value"], done["reply"], done["rationale"]) == (4.0, "4, fine", "fine")
    assert done["cost"] == "0.00000012"
    assert (unreadable["value"], unreadable["reason"], unreadable["run"]) == (None, "No score.", 2)


def test_a_pair_names_both_systems_in_the_order_shown() -> None:
    cast = make_project(documents=1)
    judge = make_judge(cast.project, "h2h")
    make_judgment(judge, cast.items[1], cast.dimensions[0], other=cast.items[0], value=1)
    (pair,) = exported(cast, "judgments")
    assert (pair["system"], pair["other_system"], pair["value"]) == ("system-2", "system-1", 1.0)


def test_judges_export_with_prompts_and_run_budgets_but_no_server_url() -> None:
    cast = make_project(documents=1)
    template = make_template(cast.project, wordings={str(cast.dimensions[0].pk): "Is {{ text }} fluent?"})
    endpoint = make_priced_endpoint(cast.project)
    judge = make_judge(cast.project, name="Reasoner", endpoint=endpoint, template=template)
    make_run(cast.project, judge, budget=Decimal(5))
    (found,) = exported(cast, "judges")
    assert judge.template is not None
    assert (found["judge"], found["prompt"], found["prompt_version"]) == ("Reasoner", judge.template.name, 1)
    assert found["prompt_text"] == judge.template.text
    assert found["prompt_wordings"] == {"fluency": "Is {{ text }} fluent?"}
    (run,) = exported(cast, "runs")
    assert (run["run"], run["status"], run["budget"]) == (1, "planned", "5.0000")
    assert "127.0.0.1" not in json.dumps(found)


def test_a_judgment_in_flight_is_exported_as_planned() -> None:
    cast = make_project(documents=1)
    make_run(cast.project, make_judge(cast.project))
    lease = "11111111-1111-1111-1111-111111111111"
    Judgment.objects.update(status="leased", lease=lease, leased_until="2030-01-01T00:00:00Z")
    assert {row["status"] for row in exported(cast, "judgments")} == {"planned"}


def test_indicators_hold_r_by_system_with_its_interval() -> None:
    found = exported(measured_project(), "indicators")
    assert [(row["rts"], row["mcq"], row["system"], row["items"]) for row in found] == [
        ("Reasoner", "Chooser", f"system-{number}", 4) for number in (1, 2, 3)
    ]
    for row in found:
        assert row["indicator_low"] <= row["indicator"] <= row["indicator_high"]


def test_certificates_contain_the_guarantee_or_the_reason_for_none() -> None:
    cast = calibrated_project()
    spec = calibration_spec(cast)
    calibration = draw_calibration(project=cast.project, spec=spec, by=cast.admin)
    rate_sample(cast, calibration)
    compute_certificates(calibration=calibration, by=cast.admin)
    found = {row["dimension"]: row for row in exported(cast, "certificates")}
    assert set(found) == {"fluency", "coherence"}
    for certificate in calibration.certificates.select_related("dimension"):
        row = found[certificate.dimension.key]
        assert (row["calibration"], row["judge"], row["other"]) == (calibration.name, "Reasoner", "Chooser")
        for name in ("threshold", "reason", "kept", "rated", "errors", "upper_bound"):
            assert row[name] == getattr(certificate, name), name
    assert found["fluency"]["threshold"] is not None
    assert found["coherence"]["reason"]
