"""R of a system on a dimension is one figure: by every door the same value, interval and count."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.test import Client

from agreement import Resampling
from agreement.comparison import CORRELATIONS
from agreement.reliability import indicator
from annotate.core.guidelines import guideline_at
from annotate.core.jobs import run_job
from annotate.core.models import ComputedResult, Project
from annotate.core.rounds import round_one
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from annotate.templatetags.figures import decimals
from judges.core.models import Judgment
from judges.results.queries.scores import Material, material_of, samples_of, scores_of, stream_of_pair
from judges.results.tables.parameters import digest_of_values
from judges.routing.commands.policies import draft_policy, make_policy, route
from judges.routing.queries.preview import routing_plan
from judges.routing.queries.route_by_reliability import IndicatorsNotKeptError, kept_indicators
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgments
from tests.judges.pages import HTMX, address, text_of
from tests.judges.routing.project import (
    DOUBTED,
    TRUSTED,
    judges_of,
    mcq_value,
    routing_project,
    rts_value,
    spec_of,
)
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db

Figure = tuple[float | None, float | None, float | None, int | None]  # value, low, high, items
Figures = dict[tuple[str, str], Figure]  # by system and dimension


make_scene = routing_project


@pytest.fixture
def cast(client: Client, cast: Cast) -> Cast:
    caches["process"].clear()
    client.force_login(cast.admin)
    return cast


def of_table(plain: dict[str, Any]) -> Figures:
    tables = [table for section in plain["sections"] for table in section["tables"]]
    (table,) = (each for each in tables if each["key"] == "indicator")
    return {
        (row[0]["value"], column["key"]): tuple(cell.get(name) for name in ("value", "low", "high", "count"))
        for row in table["rows"]
        for column, cell in zip(table["columns"][1:], row[1:], strict=True)
    }


def by_api(_: Client, cast: Cast, name: str = "reliability/") -> Figures:
    return of_table(ApiClient(cast.researcher).get(f"projects/{cast.project.slug}/results/{name}").json())


def by_judges_page(client: Client, cast: Cast) -> Figures:
    return by_api(client, cast, "judges/")


def by_command(_: Client, cast: Cast) -> Figures:
    out = StringIO()
    call_command("reliability", cast.project.slug, "--json", stdout=out)
    return of_table(json.loads(out.getvalue()))


def by_csv(client: Client, cast: Cast) -> Figures:
    answer = client.get(f"/projects/{cast.project.slug}/results/reliability/indicator.csv")
    rows = csv.DictReader(StringIO(answer.content.decode(), newline=""))
    return {
        (row["system"], key): (
            number(row[key]),
            number(row[f"{key}_low"]),
            number(row[f"{key}_high"]),
            int(row[f"{key}_count"]),
        )
        for row in rows
        for key in ("fluency", "coherence")
    }


def number(text: str) -> float | None:
    return float(text) if text else None


def by_export(_: Client, cast: Cast) -> Figures:
    lines = b"".join(export_table(cast.project, TABLES["indicators"], "jsonl")).decode().splitlines()
    names = ("indicator", "indicator_low", "indicator_high", "items")
    rows = [json.loads(line) for line in lines]
    return {(row["system"], row["dimension"]): tuple(row[name] for name in names) for row in rows}


def by_plan(cast: Cast, **fields: Any) -> Figures:
    """By the plan of a policy that keeps nothing with the judge."""
    plan = routing_plan(draft_policy(cast.project, spec_of(cast, threshold=1, **fields)), cast.project)
    found: Figures = {}
    for cell in plan.decided.cells:
        bounds, items = cell.indicator.interval, cell.indicator.counts.pairable_units
        low, high = (bounds.low, bounds.high) if bounds else (None, None)
        found[cell.system, cell.dimension.key] = (cell.indicator.value, low, high, items)
    return found


def by_preview(_: Client, cast: Cast) -> Figures:
    return by_plan(cast)


def by_routed_units(_: Client, cast: Cast) -> Figures:
    policy = route(
        policy=make_policy(project=cast.project, spec=spec_of(cast, threshold=1), by=None), by=None
    )
    units = policy.units.select_related("item__system", "dimension")
    return {
        (unit.item.system.name, unit.dimension.key): (unit.indicator, unit.low, unit.high, unit.items)
        for unit in units
    }


DOORS: list[Callable[[Client, Cast], Figures]] = [
    by_api, by_judges_page, by_command, by_csv, by_export, by_preview, by_routed_units,
]  # fmt: skip


def by_hand(cast: Cast, level: float = 0.95) -> Figures:
    rts, mcq = judges_of(cast)
    material = material_now(cast.project)
    samples = samples_of([rts, mcq], material)
    found: Figures = {}
    for one in material.dimensions:
        scores, other = (scores_of(material, one.key, samples[judge.pk, one.key]) for judge in (rts, mcq))
        stream = stream_of_pair(cast.project, rts, mcq, one)
        plan = Resampling(confidence_level=level)
        for each in indicator(
            scores, other.judge, CORRELATIONS["spearman"], generator=stream, resampling=plan
        ):
            bounds, items = each.coefficient.interval, each.coefficient.counts.pairable_units
            low, high = (bounds.low, bounds.high) if bounds else (None, None)
            found[each.system, one.key] = (each.coefficient.value, low, high, items)
    return found


def material_now(project: Project) -> Material:
    round = round_one(project)
    return material_of(project, round, guideline_at(project, round))


@pytest.mark.parametrize("kept", [True, False], ids=["kept", "computed now"])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_says_the_same(client: Client, cast: Cast, door: Any, kept: bool) -> None:
    if kept:
        by_api(client, cast)
        assert ComputedResult.objects.filter(name__startswith="reliability?").exists()
    expected = by_hand(cast)
    _, low, high, items = expected[DOUBTED, "fluency"]
    assert low is not None
    assert high is not None
    assert (low < high, items) == (True, 30)
    assert door(client, cast) == expected


def test_preview_and_page_show_the_decision_value(client: Client, cast: Cast) -> None:
    value, low, high, _ = by_hand(cast)[DOUBTED, "fluency"]
    shown = f"{decimals(value)} [{decimals(low)}, {decimals(high)}]"
    rts, mcq = judges_of(cast)
    fields = {"name": "First", "rts": rts.pk, "mcq": mcq.pk, "threshold": 0.5, "decided_by": "lower_bound"}
    rest = {
        "audit_share": 0.2,
        "audit_least": 0,
        "raters": 2,
        "coefficient": "spearman",
        "confidence_level": 0.95,
        "risk": 0.2,
    }
    posted = {**fields, **rest, "audit": "random", "show": "preview"}
    assert shown in text_of(client.post(address(cast, "routing/new/"), posted, headers=HTMX))
    url = f"/projects/{cast.project.slug}/results/reliability/"
    page = client.get(url, {"table": "indicator"}).content.decode()
    ends = (f"{each:.2f}".replace("-", "−") for each in (low, high))
    assert f"[{', '.join(ends)}] · n = 30" in page


def test_at_another_level_policy_and_page_say_the_same(client: Client, cast: Cast) -> None:
    by_api(client, cast)
    wide, narrow = by_plan(cast), by_plan(cast, confidence_level=0.9)
    assert narrow == by_hand(cast, 0.9) != wide
    assert by_api(client, cast, "reliability/?confidence=0.9") == narrow


def test_policy_reads_stored_r_until_a_judgment_changes(client: Client, cast: Cast) -> None:
    """What is kept is made recognisable: a policy that computed would find another bound."""
    by_api(client, cast)
    row = ComputedResult.objects.get(name__startswith="reliability?")
    low = by_hand(cast)[DOUBTED, "fluency"][1]
    ComputedResult.objects.filter(pk=row.pk).update(
        content=row.content.replace(f'low\\": {low}', 'low\\": -0.75')
    )
    assert by_plan(cast)[DOUBTED, "fluency"][1] == -0.75
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)  # a rating changes P, not R
    assert by_plan(cast)[DOUBTED, "fluency"][1] == -0.75
    assert by_plan(cast, coefficient="pearson")[DOUBTED, "fluency"][1] != -0.75
    judgment = Judgment.objects.filter(judge__method="mcq", item__system__name=TRUSTED, value=1).first()
    assert judgment is not None
    Judgment.objects.filter(pk=judgment.pk).update(value=5)
    assert by_plan(cast) == by_hand(cast)


def test_r_of_many_units_is_computed_by_a_worker(client: Client) -> None:
    cast = make_project(dimensions=("fluency", "coherence", "a", "b"), documents=420, systems=3)
    client.force_login(cast.admin)
    for method, value in (("rts", rts_value), ("mcq", mcq_value)):
        make_judgments(make_judge(cast.project, method, name=method.upper()), cast, value)
    policy = make_policy(project=cast.project, spec=spec_of(cast, confidence_level=0.9), by=None)
    page = address(cast, f"routing/{policy.pk}/")
    waits = text_of(client.get(page))
    assert "Computing R of these judges…" in waits
    assert "stay with the judge" not in waits
    with pytest.raises(IndicatorsNotKeptError) as waiting:
        routing_plan(policy, cast.project, preview=True)
    asked = ComputedResult.objects.get(name=waiting.value.result.name)
    assert asked.asked_at is not None
    run_job("result", asked.pk)
    judged = digest_of_values(cast.project, judges_of(cast), material_now(cast.project))
    assert kept_indicators(policy, judged) is not None
    assert "stay with the judge" in text_of(client.get(page))


def test_a_policy_takes_no_r_that_leaves_corrected_judgments_out(client: Client, cast: Cast) -> None:
    """The page without them has the same judges, coefficient and confidence, and is computed last."""
    Judgment.objects.filter(item__in=cast.items[::4]).update(is_corrected=True)
    counted = by_api(client, cast)
    assert by_api(client, cast, "reliability/?corrected=left-out") != counted
    assert by_plan(cast) == counted
    rows = ComputedResult.objects.filter(name__startswith="reliability?")
    rows.exclude(name__endswith="corrected=left-out").delete()
    assert rows.exists()
    assert by_plan(cast) == counted == by_hand(cast)


def test_project_copy_samples_the_same_units_and_values(cast: Cast) -> None:
    """The second project has other keys in the database, and the first one's seed and names."""
    copy = routing_project()
    copy.project.seed = cast.project.seed
    copy.project.save()

    def drawn(of: Cast) -> set[tuple[str, str, str]]:
        plan = routing_plan(draft_policy(of.project, spec_of(of)), of.project)
        documents = {item.pk: item.document.key for item in of.items}
        systems = {item.pk: item.system.name for item in of.items}
        keys = {one.id: one.key for one in plan.dimensions}
        audit = [unit for unit in plan.units if unit.why == "audit"]
        return {(documents[unit.item], systems[unit.item], keys[unit.dimension]) for unit in audit}

    assert len(drawn(cast)) > 5
    assert drawn(copy) == drawn(cast)
    assert by_plan(copy) == by_plan(cast)
