"""The events of webhooks, annotate's own and those of other apps, and the webhooks of a project."""

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from annotate.core.models import Delivery, Project, Webhook

ROUND_CLOSED = "round.closed"
DISPUTE_SETTLED = "dispute.settled"
EXPORT_READY = "export.ready"
TEST = "test"  # sent on request, to one webhook, whatever it wants

EVENTS: dict[str, str | Promise] = {
    ROUND_CLOSED: gettext_lazy("a round was closed"),
    DISPUTE_SETTLED: gettext_lazy("a dispute was settled, or decided by adjudication"),
    EXPORT_READY: gettext_lazy("an export is ready"),
}


SHOWN = 100


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    return Webhook.objects.filter(project=project).select_related("created_by")


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook)
