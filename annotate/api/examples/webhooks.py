"""Webhooks and what they were sent."""

SENT_TO = {"url": "https://lab.example.org/concord", "events": ["round.closed", "export.ready"]}
WEBHOOK = {
    "id": 1,
    **SENT_TO,
    "created_at": "2026-11-02T09:00:00Z",
    "failing_since": None,
    "disabled_at": None,
    "disabled_because": "",
}

EXAMPLES = {
    "WebhookInput": SENT_TO,
    "WebhookRow": WEBHOOK,
    "NewSecret": {**WEBHOOK, "secret": "whsec_shown-this-once"},
    "DeliveryRow": {
        "id": 9,
        "key": "0b8e9a4e-5d0c-4f0e-9d5a-2f6f1c7f3a11",
        "event": "round.closed",
        "body": (
            '{"type": "round.closed", "timestamp": "2026-11-20T09:00:00+00:00", '
            '"data": {"project": "reviews-of-boots", "round": 1}}'
        ),
        "created_at": "2026-11-20T09:00:00Z",
        "status": "delivered",
        "attempts": 1,
        "attempted_at": "2026-11-20T09:00:01Z",
        "due_at": None,
        "answer_status": 200,
        "answer": "ok",
    },
}
