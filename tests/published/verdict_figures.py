"""What Concord says of the judges of Shen and others 2023, beside counts made from the values themselves."""

import json
from collections.abc import Mapping
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from agreement.reliability import Ground, Use
from annotate.core.errors import InvalidValueError
from annotate.core.models import Project, Rating
from judges.core.models import Judge, Judgment
from judges.core.specification import PolicySpec
from judges.routing.commands.policies import draft_policy, make_policy
from judges.routing.queries.preview import routing_plan
from judges.routing.queries.trust import trust_in


def bad_judges_are_refused(project: Project, judges: Mapping[str, str]) -> None:
    """RTS contradicts people on fluency; the preview leaves 442 of 800 units with a wrong value."""
    rts, mcq = (Judge.objects.get(project=project, name=judges[method]) for method in ("rts", "mcq"))
    found = {each.dimension.key: each for each in trust_in(project, rts, {})}
    fluency = found["fluency"]
    assert (fluency.verdict.use, fluency.verdict.ground) == (Use.REFUSED, Ground.ALPHA)
    assert fluency.known.alpha == pytest.approx(-0.3326, abs=5e-5)
    assert fluency.known.bias == pytest.approx(-2.0218, abs=5e-5)
    assert fluency.tested is not None
    assert fluency.tested.test.winning_rate == 0
    assert {key: each.verdict.use for key, each in found.items()} == {
        "coherence": Use.REFUSED,
        "consistency": Use.PART,
        "fluency": Use.REFUSED,
        "relevance": Use.REFUSED,
    }
    usual: dict[str, Any] = {"name": "All", "rts": rts, "mcq": mcq, "threshold": 0.4, "raters": 5}
    plan = routing_plan(draft_policy(project, PolicySpec(**usual)), project)
    assert plan.verdict is not None
    assert plan.verdict.refusal.startswith(
        f"{rts} must not decide Coherence, Consistency, Fluency, Relevance. Send each whole dimension"
    )
    assert (sum(each.rated for each in plan.decided.kept.values()), plan.kept) == (800, 800)
    assert sum(each.wrong for each in plan.decided.kept.values()) == 442
    with pytest.raises(InvalidValueError, match="must not decide"):
        make_policy(project=project, spec=PolicySpec(**usual), by=None)
    # R with its validity still allows routing where people accept the wrong values that stay.
    whole = dict.fromkeys(("coherence", "fluency", "relevance"), 1.0)
    allowed = PolicySpec(**{**usual, "thresholds": whole, "risk": 0.4})
    plan = routing_plan(draft_policy(project, allowed), project)
    assert plan.verdict is not None
    assert (plan.verdict.refusal, plan.kept) == ("", 100)
    _wrong_values_count_in_whole_dimensions(project, rts, mcq)


def _wrong_values_count_in_whole_dimensions(project: Project, rts: Judge, mcq: Judge) -> None:
    out = StringIO()
    options = (f"--rts={rts}", f"--mcq={mcq}", "--threshold=0.2", "--dry-run", "--json")
    call_command("route", project.slug, *options, stdout=out)
    told = json.loads(out.getvalue())
    stays = {(each["system"], each["dimension"]) for each in told["cells"] if each["to"] == "judge"}
    wrong = _wrong_by_cell(project, rts)
    assert {system for system, key in stays if key == "relevance"} == {system for system, _ in wrong}
    assert told["gain"]["kept"]["wrong"] == sum(wrong[cell] for cell in stays)
    assert told["gain"]["kept"]["wrong"] > sum(wrong[cell] for cell in stays if cell[1] != "relevance")
    assert told["gain"]["kept"]["rated"] == told["kept"]


def _wrong_by_cell(project: Project, judge: Judge) -> dict[tuple[str, str], int]:
    """Count by system and dimension key where the judge is more than a point away from people's mean."""
    given: dict[tuple[int, str], list[float]] = {}
    rows = Rating.objects.filter(assignment__round__project=project, value__isnull=False)
    for item, key, value in rows.values_list("assignment__item", "dimension__key", "value"):
        assert value is not None
        given.setdefault((item, key), []).append(value)
    found: dict[tuple[str, str], int] = {}
    fields = ("item", "item__system__name", "dimension__key", "value")
    for item, system, key, value in Judgment.objects.filter(judge=judge).values_list(*fields):
        assert value is not None
        is_wrong = abs(value - float(np.mean(given[item, key]))) > 1 + 1e-9
        found[system, key] = found.get((system, key), 0) + is_wrong
    return found
