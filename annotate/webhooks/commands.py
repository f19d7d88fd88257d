"""What is done about webhooks: writes, one function for each thing that a person or a worker does."""

import json
import random
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotate.core.audit import facts, record
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import JobKind, own_row
from annotate.core.models import Delivery, Project, User, Webhook
from annotate.webhooks.addresses import refuse_url
from annotate.webhooks.events import EVENTS, TEST
from annotate.webhooks.sending import DeliveryResponse, post
from annotate.webhooks.signing import digest_of, headers_of, new_salt, secret_from, secret_of

# Webhooks: added, changed, tried, enabled again, removed; and notified in the transaction of what happens.

MOST = 20  # webhooks of a project
TOLD = ("url", "events")


@transaction.atomic
def add_webhook(*, project: Project, url: str, events: Collection[str], by: User) -> tuple[Webhook, str]:
    """Add a webhook and return it with its secret, which is kept nowhere. Raises InvalidValueError."""
    wanted = _check_webhook(url, events)
    if project.webhooks.count() >= MOST:
        raise InvalidValueError(gettext("A project can have up to {count} webhooks.").format(count=MOST))
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
    wanted, before = _check_webhook(url, events), facts(webhook, TOLD)
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
    announce_all(project, event, [facts])


def announce_all(project: int, event: str, happened: Iterable[Mapping[str, Any]]) -> None:
    """Do what `announce` does for several events of one kind, each with its facts."""
    enabled = Webhook.objects.filter(project=project, disabled_at=None).select_related("project")
    wanting = [webhook for webhook in enabled if event in webhook.events]
    for each in happened if wanting else ():
        _write(wanting, event, each)


def _write(webhooks: Iterable[Webhook], event: str, facts: Mapping[str, Any]) -> list[Delivery]:
    now = timezone.now()
    return Delivery.objects.bulk_create(
        Delivery(webhook=webhook, event=event, body=_body(webhook.project, event, facts, now.isoformat()))
        for webhook in webhooks
    )


def _body(project: Project, event: str, facts: Mapping[str, Any], at: str) -> str:
    payload = {"type": event, "timestamp": at, "data": {"project": project.slug, **facts}}
    return json.dumps(payload, ensure_ascii=False)


def _check_webhook(url: str, events: Collection[str]) -> list[str]:
    refuse_url(url)
    wanted = [event for event in EVENTS if event in events]
    if not wanted or len(wanted) < len(set(events)):
        sentence = gettext("Choose events of these: {events}.").format(events=", ".join(EVENTS))
        raise InvalidValueError(sentence, fields={"events": sentence})
    return wanted


def _refuse_disabled(webhook: Webhook) -> None:
    if Webhook.objects.filter(pk=webhook.pk, disabled_at__isnull=False).exists():
        raise NotReadyError(gettext("This webhook is disabled; enable it first."))


# Sending deliveries: by whichever worker takes one first, again and again until it is taken or too old.

Status = Delivery.Status
PAUSES = [timedelta(**pause) for pause in ({"seconds": 10}, {"minutes": 1}, {"minutes": 5}, {"minutes": 30})]
PAUSES += [timedelta(hours=hours) for hours in (2, 6, 12)]
KEPT = timedelta(days=90)  # in the log, once it is over
OTHER_KEY = gettext_lazy(
    "The secret key of this installation changed, so the signature would be wrong: make a new secret."
)
GONE = gettext_lazy("The address answered 410: nobody wants deliveries there any more.")


def _deliver(delivery: Delivery) -> None:
    """Send a delivery and keep the answer.

    If a worker dies between sending and keeping, the next one sends it again under the same key.
    """
    own_row(delivery).update(attempted_at=timezone.now())
    _keep(delivery, _send(delivery))


def _send(delivery: Delivery) -> DeliveryResponse:
    secret = secret_of(delivery.webhook)
    if secret is None:
        return DeliveryResponse(None, str(OTHER_KEY))
    headers = headers_of(delivery, secret, at=timezone.now())
    return post(delivery.webhook.url, delivery.body, headers)


def pause_after(attempts: int) -> timedelta:
    """Return how long to wait after so many failed attempts, a fifth more or less: not all come at once."""
    return PAUSES[min(attempts, len(PAUSES)) - 1] * random.uniform(0.8, 1.2)


@transaction.atomic
def _keep(delivery: Delivery, answer: DeliveryResponse) -> None:
    now = timezone.now()
    status = Status.DELIVERED if answer.took_it else _status_after_failure(delivery, now)
    due_at = now + pause_after(delivery.attempts) if status == Status.WAITING else None
    kept = own_row(delivery).update(
        status=status, due_at=due_at, lease=None, answer_status=answer.status, answer=answer.says
    )
    if kept and answer.took_it:
        Webhook.objects.filter(pk=delivery.webhook_id).update(failing_since=None)
        over = Delivery.objects.filter(webhook=delivery.webhook_id, created_at__lt=now - KEPT)
        over.exclude(status=Status.WAITING).delete()
    elif kept:
        _note_failure(delivery.webhook, answer, now)


def _status_after_failure(delivery: Delivery, now: datetime) -> Status:
    return Status.FAILED if now - delivery.created_at >= _patience() else Status.WAITING


def _note_failure(webhook: Webhook, answer: DeliveryResponse, now: datetime) -> None:
    enabled = Webhook.objects.filter(pk=webhook.pk, disabled_at=None)
    enabled.filter(failing_since=None).update(failing_since=now)
    if answer.status == HTTPStatus.GONE:
        _disable(webhook, enabled, str(GONE))
    else:
        days = settings.WEBHOOK_DAYS
        because = gettext("Nothing was taken for {days} days. The last answer: {answer}").format(
            days=days, answer=answer.status or answer.says
        )
        _disable(webhook, enabled.filter(failing_since__lte=now - _patience()), because)


def _disable(webhook: Webhook, which: QuerySet[Webhook], because: str) -> None:
    if which.update(disabled_at=timezone.now(), disabled_because=because):
        record(webhook.project, "webhook.disabled", webhook, note=because)


def _patience() -> timedelta:
    return timedelta(days=settings.WEBHOOK_DAYS)


DELIVERY_JOB = JobKind(
    "delivery",
    Delivery,
    _deliver,
    does="sends an event to a webhook",
    statuses={Status.WAITING: Status.WAITING},
    stopped=Status.FAILED,
    reason="answer",
    related=("webhook__project",),
    condition=lambda: Q(webhook__disabled_at=None),
    due_at="due_at",
    pause=pause_after,
)
