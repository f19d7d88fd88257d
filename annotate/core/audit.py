"""Recording administrative acts: every command that does one calls `record` in its own transaction."""

import hashlib
import json
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
from annotate.core.security_log import log_security

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def acting_user() -> User | None:
    """Return who is signed in where a request is being answered, None elsewhere."""
    user = getattr(_request.get(), "user", None)
    return user if isinstance(user, User) else None


class ActingMiddleware:
    """Remembers whose request is being answered, so that no view can forget to say who did what."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        token = _request.set(request)
        try:
            return self.get_response(request)
        finally:
            _request.reset(token)


Facts = Mapping[str, Any]
# Who gets in, with which role, and what is sent where: for the log of the installation, too.
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
    """Record an act (`round.opened`) on what bears this name, in the caller's transaction.

    before, after: facts by name, of which those are kept that became different; where none did, nothing was
    done. by: who acted, where it is not whose request is being answered; on command lines nobody. Their name
    and address are kept as they are now.
    """
    if before is not None and after is not None:
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        if not changed:
            return
        before = {name: before[name] for name in changed if name in before}
        after = {name: after[name] for name in changed if name in after}
    elif after is not None:
        after = {name: value for name, value in after.items() if value not in ("", None)}
    actor = by or acting_user()
    if actor and act.startswith(
        SECURITY_ACTS
    ):  # who runs commands, and demonstrations, has a log of their own
        log_security(act, actor, project=project.slug, subject=getattr(subject, "pk", None))
    with override(settings.LANGUAGE_CODE):  # what is kept reads the same, whoever acted in which language
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
    """Return the columns of an entry that say who acted, as they are called now."""
    return {"actor": actor, "actor_name": actor.name, "actor_email": actor.email} if actor else {}


def digest_of(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def facts(row: Model, fields: Sequence[str]) -> dict[str, Any]:
    """Return some fields of a row as they are now, references by what they are called."""
    values = {field: getattr(row, field) for field in fields}
    return {field: str(value) if isinstance(value, Model) else value for field, value in values.items()}


def _plain(given: Facts | None) -> Any:
    return None if given is None else json.loads(json.dumps(given, cls=DjangoJSONEncoder))
