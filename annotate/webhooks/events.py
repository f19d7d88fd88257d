"""The events of webhooks: annotate's own, and events added by other apps."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

ROUND_CLOSED = "round.closed"
DISPUTE_SETTLED = "dispute.settled"
EXPORT_READY = "export.ready"
TEST = "test"  # sent on request, to one webhook, whatever it wants

EVENTS: dict[str, str | Promise] = {
    ROUND_CLOSED: gettext_lazy("a round was closed"),
    DISPUTE_SETTLED: gettext_lazy("a dispute was settled, or decided by adjudication"),
    EXPORT_READY: gettext_lazy("an export is ready"),
}
