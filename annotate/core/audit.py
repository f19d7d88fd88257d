"""Recording administrative acts. Every command that performs one calls `record` in its own transaction."""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import override

from annotate.core.models import AuditEntry, Project, User

# Events of sign-ins, rejections, tokens, keys and roles go to the log of the installation. They identify
# accounts and rows by number, and contain no e-mail and no secret.
LOGGER = "concord.security"
REFUSALS = ("refused", "too_many")
logger = logging.getLogger(LOGGER)


def log_security(event: str, person: User | None, **facts: object) -> None:
    """Log an event (`token.made`) of a person's account; rejections as warnings."""
    level = logging.WARNING if event.endswith(REFUSALS) else logging.INFO
    account = person.pk if person else None
    words = "".join(f" {name}={value}" for name, value in facts.items() if value is not None)
    logger.log(
        level,
        "%s account=%s%s",
        event,
        "none" if account is None else account,
        words,
        extra={"event": {"event": event, "account": account, **facts}},
    )


_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


class ActingMiddleware:
    """Stores the user of the current request, so that no view can forget to record the actor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        token = _request.set(request)
        try:
            return self.get_response(request)
        finally:
            _request.reset(token)


Facts = Mapping[str, Any]
# Access, roles and outbound deliveries are also written to the log of the installation.
SECURITY_ACTS = ("endpoint.key_", "invitation.", "place.", "webhook.", "person.", "export.pushed")


def record(
    project: Project,
    act: str,
    subject: object = "",
    *,
    before: Facts | None = None,
    after: Facts | None = None,
    note: str = "",
    by: User | None = None,
) -> None:
    """Record an act (`round.opened`) on a subject, in the caller's transaction.

    before, after: facts by name. Only facts that differ are recorded; without any difference, no act is
    recorded. by: the actor, if not the user of the current request; None on command lines. The entry stores
    the actor's current name and e-mail.
    """
    # An act without any effect is no act: a form saved without changes leaves no entry.
    if before is not None and after is not None:
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        if not changed:
            return
        before = {name: before[name] for name in changed if name in before}
        after = {name: after[name] for name in changed if name in after}
    elif after is not None:
        after = {name: value for name, value in after.items() if value not in ("", None)}
    signed_in = getattr(_request.get(), "user", None)
    actor = by or (signed_in if isinstance(signed_in, User) else None)
    # The acts of operators of commands, and of demonstrations, have a separate log.
    if actor and act.startswith(SECURITY_ACTS):
        log_security(act, actor, project=project.slug, subject=getattr(subject, "pk", None))
    with override(settings.LANGUAGE_CODE):  # Stored values do not depend on the actor's language.
        AuditEntry.objects.create(
            project=project,
            at=timezone.now(),
            **actor_columns(actor),
            act=act,
            subject=str(subject)[:300],
            before=_plain(before),
            after=_plain(after),
            note=note,
        )


def actor_columns(actor: User | None) -> dict[str, Any]:
    """Return the columns of an entry that identify the actor, with the current name."""
    return {"actor": actor, "actor_name": actor.name, "actor_email": actor.email} if actor else {}


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def facts(row: Model, fields: Sequence[str]) -> dict[str, Any]:
    """Return the current values of some fields of a row, with references by name."""
    values = {field: getattr(row, field) for field in fields}
    return {field: str(value) if isinstance(value, Model) else value for field, value in values.items()}


def _plain(given: Facts | None) -> Any:
    return None if given is None else json.loads(json.dumps(given, cls=DjangoJSONEncoder))
