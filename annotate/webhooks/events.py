"""The events that webhooks can be sent: annotate's own, and those that other apps add."""

ROUND_CLOSED = "round.closed"
DISPUTE_SETTLED = "dispute.settled"
EXPORT_READY = "export.ready"
TEST = "test"  # sent on request, to one webhook, whatever it wants

EVENTS: dict[str, str] = {
    ROUND_CLOSED: "a round was closed",
    DISPUTE_SETTLED: "a dispute was settled, or decided by adjudication",
    EXPORT_READY: "an export is ready",
}
