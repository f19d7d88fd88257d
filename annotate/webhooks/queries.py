"""Webhooks of a project, their deliveries, and the due ones."""

from django.db.models import QuerySet

from annotate.core.models import Delivery, Project, Webhook

SHOWN = 100


def webhooks_of(project: Project) -> QuerySet[Webhook]:
    return Webhook.objects.filter(project=project).select_related("created_by")


def deliveries_of(webhook: Webhook) -> QuerySet[Delivery]:
    return Delivery.objects.filter(webhook=webhook)
