"""Webhooks of a project, what they were sent, and what is due."""

from django.db.models import QuerySet

from annotate.core.models import Delivery, Project, Webhook

SHOWN = 100


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    """Return a project's webhooks, the oldest first."""
    return Webhook.objects.filter(project=project).select_related("created_by")


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    """Return what a webhook was sent, or is to be, the newest first."""
    return Delivery.objects.filter(webhook=webhook)
