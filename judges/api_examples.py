"""Examples of endpoints, judges, runs, judgments and policies in the description of the API."""

from typing import Any

from annotate.api.examples import illustrate

JUDGE = {
    "name": "Small judge",
    "endpoint": 1,
    "model": "gpt-4o-mini",
    "temperature": 0.0,
    "samples": 1,
    "max_tokens": 500,
    "score_from": "text",
    "structured": False,
}
JUDGMENT = {
    "judge": "Small judge",
    "document": "boots",
    "system": "a",
    "dimension": "fluency",
    "sample": 0,
    "value": 4.0,
    "rationale": "It reads well.",
    "input_tokens": 412,
    "output_tokens": 38,
    "seconds": 1.4,
}
POLICY = {
    "name": "By R",
    "rts": 1,
    "mcq": 2,
    "coefficient": "spearman",
    "threshold": 0.4,
    "thresholds": {"fluency": 0.5},
    "decided_by": "lower_bound",
    "confidence_level": 0.95,
    "audit": "random",
    "audit_share": 0.1,
    "raters": 1,
    "risk": 0.2,
}
POLICY_ROW = {
    **POLICY,
    "id": 1,
    "rule": "indicator",
    "status": "draft",
    "created_at": "2026-11-13T09:00:00Z",
    "routed_at": None,
    "withdrawn_at": None,
}
RUN = {
    "id": 1,
    "status": "running",
    "via": "calls",
    "reason": "",
    "budget": "1.5000",
    "spent": "0.03120000",
    "created_at": "2026-11-12T09:00:00Z",
    "started_at": "2026-11-12T09:01:00Z",
    "finished_at": None,
}

EXAMPLES = {
    "EndpointInput": {
        "name": "Lab",
        "base_url": "https://models.example.org/v1",
        "key": "the-key-of-the-provider",
        "input_price": 0.15,
        "output_price": 0.6,
        "requests_per_minute": 500,
        "calls_in_flight": 16,
        "timeout_seconds": 60,
    },
    "EndpointRow": {
        "id": 1,
        "name": "Lab",
        "base_url": "https://models.example.org/v1",
        "key_variable": "",
        "has_key": True,
        "requests_per_minute": 500,
        "tokens_per_minute": None,
        "input_price": "0.150000",
        "output_price": "0.600000",
        "timeout_seconds": 60,
        "calls_in_flight": 16,
    },
    "KeyInput": {"key": "the-key-of-the-provider"},
    "KeyRow": {
        "server": "https://models.example.org",
        "ends_with": "f1d9",
        "entered_at": "2026-11-12T09:00:00Z",
        "entered_by": "Ada",
        "is_used": True,
    },
    "TrialInput": {"model": "gpt-4o-mini", "message": "Reply with the word: ready"},
    "TrialRow": {
        "text": "ready",
        "problem": "",
        "seconds": 0.62,
        "input_tokens": 14,
        "output_tokens": 1,
        "cost": "0.00000270",
    },
    "PromptRow": {
        "id": 1,
        "method": "rts",
        "name": "Rating",
        "version": 1,
        "text": "Rate the text on {{ dimension }}.",
        "created_at": "2026-11-12T09:00:00Z",
    },
    "JudgeInput": {**JUDGE, "template": "shipped:rts"},
    "JudgeRow": {**JUDGE, "id": 1, "method": "rts", "template": 1, "created_at": "2026-11-12T09:00:00Z"},
    "RunInput": {"judges": [1], "dimensions": ["fluency"], "via": "calls", "budget": 1.5},
    "PlanShape": {"judgments": 500, "there": 0, "calls": 500, "cost": "0.31200000", "problems": []},
    "BudgetInput": {"budget": 3.0},
    "RunRow": RUN,
    "RunDetail": {
        "run": RUN,
        "total": 500,
        "done": 50,
        "unreadable": 1,
        "failed": 0,
        "in_flight": 16,
        "planned": 433,
        "per_second": 8.2,
        "seconds_left": 54.8,
    },
    "JudgmentsInput": {"judgments": [{**JUDGMENT, "method": "rts"}]},
    "JudgmentsMade": {
        "made": {"judges": 1, "judgments": 1},
        "already_there": {"judges": 0, "judgments": 0},
    },
    "JudgmentRow": {
        **JUDGMENT,
        "id": 12,
        "run": 1,
        "other_system": None,
        "status": "done",
        "reply": "Score: 4. It reads well.",
        "reason": "",
        "cost": "0.00008460",
        "answered_at": "2026-11-12T09:01:02Z",
    },
    "PolicyInput": POLICY,
    "StepInput": {"shown": "5f2d0c"},
    "PolicyRow": POLICY_ROW,
    "PolicyDetail": {
        "policy": POLICY_ROW,
        "all_units": 500,
        "sent": 100,
        "audited": 40,
        "counts": {"threshold": 100, "audit": 40},
        "refusal": "",
        "digest": "5f2d0c",
    },
}


def add_examples(result: dict[str, Any], **_context: Any) -> dict[str, Any]:
    """Add the examples of judges to a description."""
    return illustrate(result, EXAMPLES)
