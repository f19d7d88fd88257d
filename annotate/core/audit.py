"""Recording administrative acts: every command that does one calls `record` in its own transaction."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import override

from annotate.core.acting_user import acting_user
from annotate.core.models import AuditEntry, Project, User

Facts = Mapping[str, Any]


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
    with override(settings.LANGUAGE_CODE):  # what is kept reads the same, whoever acted in which language
        AuditEntry.objects.create(
            project=project,
            at=timezone.now(),
            **actor_columns(by or acting_user()),
            act=act,
            subject=str(subject)[:300],
            before=_plain(before),
            after=_plain(after),
            note=note,
        )


def actor_columns(actor: User | None) -> dict[str, Any]:
    """Return the columns of an entry that say who acted, as they are called now."""
    return {"actor": actor, "actor_name": actor.name, "actor_email": actor.email} if actor else {}


def facts(row: Model, fields: Sequence[str]) -> dict[str, Any]:
    """Return some fields of a row as they are now, references by what they are called."""
    values = {field: getattr(row, field) for field in fields}
    return {field: str(value) if isinstance(value, Model) else value for field, value in values.items()}


def _plain(given: Facts | None) -> Any:
    return None if given is None else json.loads(json.dumps(given, cls=DjangoJSONEncoder))
