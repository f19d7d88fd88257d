"""Write operations on webhooks and deliveries."""

import base64
import hashlib
import hmac
import json
import random
import secrets
import socket
import ssl
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from threading import Event, Timer
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_lazy

from annotate.core.audit import facts, record
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import JobKind, own_row
from annotate.core.models import Delivery, Project, User, Webhook
from annotate.core.outbound import Guard, PrivateAddressError
from annotate.core.version import VERSION
from annotate.webhooks.events import EVENTS, TEST

WEBHOOK_GUARD = Guard(
    allows=lambda _host, _port: settings.PRIVATE_WEBHOOKS,
    advice=lambda host, _port: gettext(
        "{host} is a private host. Set CONCORD_PRIVATE_WEBHOOKS=1 to allow webhooks to it."
    ).format(host=host),
)


# One POST to a URL that anyone may have typed: checked, timed, not redirected, and hardly read.

SILENCE = 10.0  # seconds without a byte
LONGEST = 20.0  # seconds altogether, however steadily it drips
READ = 500  # bytes of an answer


@dataclass(frozen=True)
class DeliveryResponse:
    """The answer to a delivery: its status and first characters, or the reason that there is none."""

    status: int | None
    says: str

    @property
    def took_it(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class _Plain(HTTPConnection):
    def connect(self) -> None:
        self.sock = WEBHOOK_GUARD.connect(self.host, self.port, timeout=SILENCE)


class _Encrypted(HTTPSConnection):
    def connect(self) -> None:
        """Connect to a checked address of the host. The certificate must be for the name of the host."""
        plain = WEBHOOK_GUARD.connect(self.host, self.port, timeout=SILENCE)
        self.sock = ssl.create_default_context().wrap_socket(
            plain, server_hostname=self.host, do_handshake_on_connect=False
        )
        self.sock.do_handshake()


def post(url: str, body: str, headers: Mapping[str, str]) -> DeliveryResponse:
    """Send a body to a URL and return the answer. It never raises, and uses no proxy."""
    parts = urlsplit(url)
    kind = _Encrypted if parts.scheme == "https" else _Plain
    path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
    try:
        with closing(kind(parts.hostname or "", parts.port)) as connection, _cut_off(connection):
            connection.request("POST", path, body.encode(), dict(headers))
            # The connection follows no redirect: its target could be a private host.
            reply = connection.getresponse()
            return DeliveryResponse(reply.status, _readable(reply.read(READ)))
    except PrivateAddressError as error:
        return DeliveryResponse(None, str(error))
    except TimeoutError:
        sentence = gettext("There was no whole answer in {least:.0f} to {most:.0f} seconds.")
        return DeliveryResponse(None, sentence.format(least=SILENCE, most=LONGEST))
    except ssl.SSLError as error:
        sentence = gettext("No encrypted connection could be made ({error}).")
        return DeliveryResponse(None, sentence.format(error=error.reason or error))
    except (OSError, HTTPException, ValueError) as error:
        sentence, says = gettext("There was no answer ({kind}: {error})."), _readable(str(error).encode())
        return DeliveryResponse(None, sentence.format(kind=type(error).__name__, error=says))


@contextmanager
def _cut_off(connection: HTTPConnection) -> Iterator[None]:
    """End a connection after LONGEST; raises TimeoutError, even if parts have arrived."""
    over = Event()

    def cut() -> None:
        over.set()
        with suppress(OSError):  # it may have ended by itself
            if connection.sock:
                # Not the method of an encrypted socket, which a thread that reads from it does not survive.
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    timer = Timer(LONGEST, cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if over.is_set():
            raise TimeoutError


def _readable(content: bytes) -> str:
    text = content[:READ].decode("utf-8", "replace")
    return "".join(
        letter if letter.isprintable() or letter == "\n" else "\N{REPLACEMENT CHARACTER}" for letter in text
    )


# Signatures after Standard Webhooks (standardwebhooks.com). A secret is made from the installation's secret
# key and the webhook's salt whenever it is needed: a copy of the database does not contain it.

PREFIX = "whsec_"
SALT_BYTES = 24


def new_salt() -> str:
    return secrets.token_urlsafe(SALT_BYTES)


def secret_from(salt: str) -> str:
    made = salted_hmac("annotate.webhooks", salt, algorithm="sha256").digest()
    return PREFIX + base64.b64encode(made).decode()


def digest_of(secret: str) -> str:
    """Return the SHA-256 of a secret; it is random enough that no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


def secret_of(webhook: Webhook) -> str | None:
    """Return the secret shown to its admin, None if the installation's key has changed since."""
    secret = secret_from(webhook.salt)
    return secret if digest_of(secret) == webhook.digest else None


def signature(secret: str, *, key: str, timestamp: int, body: str) -> str:
    """Return HMAC-SHA256 over `KEY.TIMESTAMP.BODY`, in base64, after the version of the scheme."""
    signed = f"{key}.{timestamp}.{body}".encode()
    made = hmac.digest(base64.b64decode(secret.removeprefix(PREFIX)), signed, "sha256")
    return f"v1,{base64.b64encode(made).decode()}"


def headers_of(delivery: Delivery, secret: str, *, at: datetime) -> Mapping[str, str]:
    """Return the headers by which a receiver verifies the origin and age of a delivery."""
    key, timestamp = str(delivery.key), int(at.timestamp())
    return {
        "Content-Type": "application/json",
        "User-Agent": f"Concord/{VERSION}",
        "webhook-id": key,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature(secret, key=key, timestamp=timestamp, body=delivery.body),
    }


# Webhooks: added, changed, tried, enabled again, removed; and notified in the transaction of what happens.

MOST = 20  # webhooks of a project
TOLD = ("url", "events")


@transaction.atomic
def add_webhook(*, project: Project, url: str, events: Collection[str], by: User) -> tuple[Webhook, str]:
    """Add a webhook and return it with its secret, which is not stored. Raises InvalidValueError."""
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
    """Change the events or the URL; the secret stays. Raises InvalidValueError."""
    wanted, before = _check_webhook(url, events), facts(webhook, TOLD)
    webhook.url, webhook.events = url, wanted
    webhook.save(update_fields=["url", "events"])
    record(webhook.project, "webhook.changed", webhook, before=before, after=facts(webhook, TOLD), by=by)
    return webhook


@transaction.atomic
def renew_secret(*, webhook: Webhook, by: User) -> str:
    """Return a new secret, which signs all deliveries from now on; the old one is invalid."""
    webhook.salt = new_salt()
    secret = secret_from(webhook.salt)
    webhook.digest = digest_of(secret)
    webhook.save(update_fields=["salt", "digest"])
    record(webhook.project, "webhook.secret_renewed", webhook, by=by)
    return secret


@transaction.atomic
def enable_webhook(*, webhook: Webhook, by: User) -> None:
    """Enable a webhook; pending deliveries are due at once. No change for an enabled one."""
    # The condition makes a second request a no-op, without a second entry in the audit log.
    disabled = Webhook.objects.filter(pk=webhook.pk, disabled_at__isnull=False)
    if disabled.update(disabled_at=None, disabled_because="", failing_since=None):
        webhook.deliveries.filter(status=Delivery.Status.WAITING).update(due_at=timezone.now())
        record(webhook.project, "webhook.enabled", webhook, by=by)


@transaction.atomic
def remove_webhook(*, webhook: Webhook, by: User) -> None:
    if Webhook.objects.filter(pk=webhook.pk).delete()[0]:
        record(webhook.project, "webhook.removed", webhook, before=facts(webhook, TOLD), by=by)


@transaction.atomic
def try_webhook(*, webhook: Webhook) -> Delivery:
    """Send a test delivery, independent of the selected events. Raises NotReadyError if it is disabled."""
    _refuse_disabled(webhook)
    (made,) = _write([webhook], TEST, {})
    return made


@transaction.atomic
def send_again(*, delivery: Delivery) -> Delivery:
    """Send a delivery again under its key; a pending one is tried at once. Raises NotReadyError."""
    _refuse_disabled(delivery.webhook)
    # Without a lease, a worker that still sends this delivery cannot store its outcome over this state.
    delivery.status, delivery.due_at, delivery.lease = Delivery.Status.WAITING, timezone.now(), None
    delivery.save(update_fields=["status", "due_at", "lease"])
    return delivery


def announce(project: int, event: str, facts: Mapping[str, Any]) -> None:
    """Write a delivery for each webhook of a project (its key) with this event. One query, or two.

    Call it in the transaction of the event, so that both are saved or neither. Workers find due deliveries.
    """
    announce_all(project, event, [facts])


def announce_all(project: int, event: str, happened: Iterable[Mapping[str, Any]]) -> None:
    """Do what `announce` does for several events of one kind, each with its facts."""
    enabled = Webhook.objects.filter(project=project, disabled_at=None).select_related("project")
    wanting = [webhook for webhook in enabled if event in webhook.events]
    for each in happened if wanting else ():
        _write(wanting, event, each)


def _write(webhooks: Iterable[Webhook], event: str, facts: Mapping[str, Any]) -> list[Delivery]:
    now, made = timezone.now().isoformat(), []
    for webhook in webhooks:
        payload = {"type": event, "timestamp": now, "data": {"project": webhook.project.slug, **facts}}
        body = json.dumps(payload, ensure_ascii=False)
        made.append(Delivery(webhook=webhook, event=event, body=body))
    return Delivery.objects.bulk_create(made)


def _check_webhook(url: str, events: Collection[str]) -> list[str]:
    # This asks no name server.
    if sentence := WEBHOOK_GUARD.problem_of(url):
        raise InvalidValueError(sentence, fields={"url": sentence})
    wanted = [event for event in EVENTS if event in events]
    if not wanted or len(wanted) < len(set(events)):
        sentence = gettext("Choose events of these: {events}.").format(events=", ".join(EVENTS))
        raise InvalidValueError(sentence, fields={"events": sentence})
    return wanted


def _refuse_disabled(webhook: Webhook) -> None:
    if Webhook.objects.filter(pk=webhook.pk, disabled_at__isnull=False).exists():
        raise NotReadyError(gettext("This webhook is disabled; enable it first."))


# Sending deliveries: by any worker, repeatedly until accepted or too old.

Status = Delivery.Status
PAUSES = [timedelta(**pause) for pause in ({"seconds": 10}, {"minutes": 1}, {"minutes": 5}, {"minutes": 30})]
PAUSES += [timedelta(hours=hours) for hours in (2, 6, 12)]
KEPT = timedelta(days=90)  # in the log, once it is over
OTHER_KEY = gettext_lazy(
    "The secret key of this installation changed, so the signature would be wrong: make a new secret."
)
GONE = gettext_lazy("The address answered 410: nobody wants deliveries there any more.")


def _deliver(delivery: Delivery) -> None:
    """Send a delivery and store the response.

    If a worker dies between sending and storing, the next one sends it again under the same key.
    """
    # Only the worker with the lease writes, here and in `_keep`.
    own_row(delivery).update(attempted_at=timezone.now())
    # Without the secret there is no request: receivers would reject the signature.
    secret, answer = secret_of(delivery.webhook), DeliveryResponse(None, str(OTHER_KEY))
    if secret is not None:
        headers = headers_of(delivery, secret, at=timezone.now())
        answer = post(delivery.webhook.url, delivery.body, headers)
    _keep(delivery, answer)


def pause_after(attempts: int) -> timedelta:
    """Return the pause after `attempts` failures, randomly changed by up to a fifth to spread retries."""
    return PAUSES[min(attempts, len(PAUSES)) - 1] * random.uniform(0.8, 1.2)


@transaction.atomic
def _keep(delivery: Delivery, answer: DeliveryResponse) -> None:
    now = timezone.now()
    # The outcome of this delivery: delivered, to be repeated, or given up.
    patience = timedelta(days=settings.WEBHOOK_DAYS)
    status = Status.FAILED if now - delivery.created_at >= patience else Status.WAITING
    if answer.took_it:
        status = Status.DELIVERED
    due_at = now + pause_after(delivery.attempts) if status == Status.WAITING else None
    kept = own_row(delivery).update(
        status=status, due_at=due_at, lease=None, answer_status=answer.status, answer=answer.says
    )
    if kept and answer.took_it:
        Webhook.objects.filter(pk=delivery.webhook_id).update(failing_since=None)
        # A success is the occasion to clear the log of this webhook.
        over = Delivery.objects.filter(webhook=delivery.webhook_id, created_at__lt=now - KEPT)
        over.exclude(status=Status.WAITING).delete()
    elif kept:
        webhook = delivery.webhook
        enabled = Webhook.objects.filter(pk=webhook.pk, disabled_at=None)
        # Only the first failure in a row sets the time; a success clears it.
        enabled.filter(failing_since=None).update(failing_since=now)
        # By 410 a receiver asks for no more deliveries, so the webhook is disabled at once.
        if answer.status == HTTPStatus.GONE:
            _disable(webhook, enabled, str(GONE))
        else:
            sentence = gettext("Nothing was taken for {days} days. The last answer: {answer}")
            because = sentence.format(days=settings.WEBHOOK_DAYS, answer=answer.status or answer.says)
            _disable(webhook, enabled.filter(failing_since__lte=now - patience), because)


def _disable(webhook: Webhook, which: QuerySet[Webhook], because: str) -> None:
    if which.update(disabled_at=timezone.now(), disabled_because=because):
        record(webhook.project, "webhook.disabled", webhook, note=because)


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
