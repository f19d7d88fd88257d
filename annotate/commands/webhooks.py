"""Webhooks: added, changed, tried, enabled again, removed; and told what happens, in the same transaction."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.commands.audit import facts, record
from annotate.errors import InvalidValueError, NotReadyError
from annotate.models import Delivery, Project, User, Webhook
from annotate.webhooks.addresses import refuse_url
from annotate.webhooks.events import EVENTS, TEST
from annotate.webhooks.signing import digest_of, new_salt, secret_from

MOST = 20  # webhooks of a project
TOLD = ("url", "events")


@transaction.atomic
def add_webhook(*, project: Project, url: str, events: Collection[str], by: User) -> tuple[Webhook, str]:
    """Add a webhook and return it with its secret, which is kept nowhere. Raises InvalidValueError."""
    wanted = _checked(url, events)
    if project.webhooks.count() >= MOST:
        raise InvalidValueError(gettext("A project has at most {count} webhooks.").format(count=MOST))
    salt = new_salt()
    secret = secret_from(salt)
    made = Webhook.objects.create(
        project=project, url=url, events=wanted, salt=salt, digest=digest_of(secret), created_by=by
    )
    record(project, "webhook.added", made, after=facts(made, TOLD), by=by)
    return made, secret


@transaction.atomic
def change_webhook(*, webhook: Webhook, url: str, events: Collection[str], by: User) -> Webhook:
    """Send other events, or to another address; the secret stays. Raises InvalidValueError."""
    wanted, before = _checked(url, events), facts(webhook, TOLD)
    webhook.url, webhook.events = url, wanted
    webhook.save(update_fields=["url", "events"])
    record(webhook.project, "webhook.changed", webhook, before=before, after=facts(webhook, TOLD), by=by)
    return webhook


@transaction.atomic
def renew_secret(*, webhook: Webhook, by: User) -> str:
    """Return a new secret, with which everything is signed from now on; the old one is worth nothing."""
    webhook.salt = new_salt()
    secret = secret_from(webhook.salt)
    webhook.digest = digest_of(secret)
    webhook.save(update_fields=["salt", "digest"])
    record(webhook.project, "webhook.secret_renewed", webhook, by=by)
    return secret


@transaction.atomic
def enable_webhook(*, webhook: Webhook, by: User) -> None:
    """Send again, what waits at once; nothing happens to one that is enabled."""
    disabled = Webhook.objects.filter(pk=webhook.pk, disabled_at__isnull=False)
    if disabled.update(disabled_at=None, disabled_because="", failing_since=None):
        webhook.deliveries.filter(status=Delivery.Status.WAITING).update(due_at=timezone.now())
        record(webhook.project, "webhook.enabled", webhook, by=by)


@transaction.atomic
def remove_webhook(*, webhook: Webhook, by: User) -> None:
    """Remove a webhook with its log."""
    if Webhook.objects.filter(pk=webhook.pk).delete()[0]:
        record(webhook.project, "webhook.removed", webhook, before=facts(webhook, TOLD), by=by)


@transaction.atomic
def try_webhook(*, webhook: Webhook) -> Delivery:
    """Send a test, whatever events are wanted. Raises NotReadyError where it is disabled."""
    _refuse_disabled(webhook)
    (made,) = _write([webhook], TEST, {})
    return made


@transaction.atomic
def send_again(*, delivery: Delivery) -> Delivery:
    """Send a delivery once more under its key; one that waits is tried at once. Raises NotReadyError."""
    _refuse_disabled(delivery.webhook)
    delivery.status, delivery.due_at, delivery.lease = Delivery.Status.WAITING, timezone.now(), None
    delivery.save(update_fields=["status", "due_at", "lease"])
    return delivery


def announce(project: int, event: str, facts: Mapping[str, Any]) -> None:
    """Write a delivery for each webhook of a project (its key) that wants the event. One query, or two.

    Belongs into the transaction of what happened: either both are so, or neither. Workers find what is due.
    """
    enabled = Webhook.objects.filter(project=project, disabled_at=None).select_related("project")
    _write([webhook for webhook in enabled if event in webhook.events], event, facts)


def _write(webhooks: Iterable[Webhook], event: str, facts: Mapping[str, Any]) -> list[Delivery]:
    now = timezone.now()
    return Delivery.objects.bulk_create(
        Delivery(webhook=webhook, event=event, body=_body(webhook.project, event, facts, now.isoformat()))
        for webhook in webhooks
    )


def _body(project: Project, event: str, facts: Mapping[str, Any], at: str) -> str:
    told = {"type": event, "timestamp": at, "data": {"project": project.slug, **facts}}
    return json.dumps(told, ensure_ascii=False)


def _checked(url: str, events: Collection[str]) -> list[str]:
    refuse_url(url)
    wanted = [event for event in EVENTS if event in events]
    if not wanted or len(wanted) < len(set(events)):
        sentence = gettext("Choose events of these: {events}.").format(events=", ".join(EVENTS))
        raise InvalidValueError(sentence, fields={"events": sentence})
    return wanted


def _refuse_disabled(webhook: Webhook) -> None:
    if Webhook.objects.filter(pk=webhook.pk, disabled_at__isnull=False).exists():
        raise NotReadyError(gettext("This webhook is disabled; enable it first."))
