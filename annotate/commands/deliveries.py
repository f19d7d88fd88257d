"""Sending deliveries: by whichever worker takes one first, again and again until it is taken or too old."""

import random
from datetime import datetime, timedelta
from http import HTTPStatus
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotate.commands.audit import record
from annotate.models import Delivery, Webhook
from annotate.queries.webhooks import due_deliveries
from annotate.webhooks.sending import LONGEST, Answer, post
from annotate.webhooks.signing import headers_of, secret_of

Status = Delivery.Status
LEASE = timedelta(seconds=3 * LONGEST)  # what a dead worker was sending is sent again after it
PAUSES = [timedelta(**pause) for pause in ({"seconds": 10}, {"minutes": 1}, {"minutes": 5}, {"minutes": 30})]
PAUSES += [timedelta(hours=hours) for hours in (2, 6, 12)]
KEPT = timedelta(days=90)  # in the log, once it is over
OTHER_KEY = "The secret key of this installation changed, so the signature would be wrong: make a new secret."
GONE = "The address answered 410: nobody wants deliveries there any more."


def deliver(*, delivery_id: int) -> None:
    """Send a delivery that is due and keep what was answered; one that another worker has is left alone.

    Safe to run twice. A worker that dies between sending and keeping sends it once more, under the same key.
    """
    delivery = _taken(delivery_id)
    if delivery is None:
        return
    secret = secret_of(delivery.webhook)
    if secret is None:
        answer = Answer(None, OTHER_KEY)
    else:
        headers = headers_of(delivery, secret, at=timezone.now())
        answer = post(delivery.webhook.url, delivery.body, headers)
    _keep(delivery, answer)


def pause_after(attempts: int) -> timedelta:
    """Return how long to wait after so many failed attempts, a fifth more or less: not all come at once."""
    return PAUSES[min(attempts, len(PAUSES)) - 1] * random.uniform(0.8, 1.2)


def _taken(delivery_id: int) -> Delivery | None:
    lease, now = uuid4(), timezone.now()
    due_deliveries(now).filter(pk=delivery_id).update(
        lease=lease, due_at=now + LEASE, attempts=F("attempts") + 1, attempted_at=now
    )
    return _held(delivery_id, lease).select_related("webhook__project").first()


def _held(delivery_id: int, lease: UUID | None) -> QuerySet[Delivery]:
    return Delivery.objects.filter(pk=delivery_id, lease=lease, lease__isnull=False)


@transaction.atomic
def _keep(delivery: Delivery, answer: Answer) -> None:
    now = timezone.now()
    status = Status.DELIVERED if answer.took_it else _status_after_failure(delivery, now)
    due_at = now + pause_after(delivery.attempts) if status == Status.WAITING else None
    kept = _held(delivery.pk, delivery.lease).update(
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


def _note_failure(webhook: Webhook, answer: Answer, now: datetime) -> None:
    enabled = Webhook.objects.filter(pk=webhook.pk, disabled_at=None)
    enabled.filter(failing_since=None).update(failing_since=now)
    if answer.status == HTTPStatus.GONE:
        _disable(webhook, enabled, GONE)
    else:
        days = settings.WEBHOOK_DAYS
        because = f"Nothing was taken for {days} days. The last answer: {answer.status or answer.says}"
        _disable(webhook, enabled.filter(failing_since__lte=now - _patience()), because)


def _disable(webhook: Webhook, which: QuerySet[Webhook], because: str) -> None:
    if which.update(disabled_at=timezone.now(), disabled_because=because):
        record(webhook.project, "webhook.disabled", webhook, note=because)


def _patience() -> timedelta:
    return timedelta(days=settings.WEBHOOK_DAYS)
