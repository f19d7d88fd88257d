"""API tokens: creating and revoking them, finding one by its secret, and recording their use."""

import secrets
from collections.abc import Collection
from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import log_security
from annotate.core.database import write_if_possible
from annotate.core.errors import InvalidValueError
from annotate.core.models import ApiToken, User, token_digest
from annotate.fastpath.queries import WORD, compile_once

SCOPES = ("read", "write", "rate")
LONGEST = timedelta(days=366)
PREFIX = "concord_"
SHOWN = len(PREFIX) + 4
NOTED_EVERY = timedelta(hours=1)


@transaction.atomic
def make_token(*, user: User, name: str, scopes: Collection[str], lasts: timedelta) -> tuple[ApiToken, str]:
    """Create a token and return it with its secret, which is never stored. Raises InvalidValueError."""
    if not scopes or set(scopes) - set(SCOPES):
        raise InvalidValueError(
            gettext("A token has scopes of these: {names}.").format(names=", ".join(SCOPES))
        )
    if not timedelta(0) < lasts <= LONGEST:
        raise InvalidValueError(
            gettext("A token lasts between one day and {days} days.").format(days=LONGEST.days)
        )
    secret = PREFIX + secrets.token_urlsafe(32)
    now = timezone.now()
    made = ApiToken.objects.create(
        user=user,
        name=name,
        digest=token_digest(secret),
        beginning=secret[:SHOWN],
        created_at=now,
        expires_at=now + lasts,
        **{f"may_{scope}": True for scope in scopes},
    )
    log_security("token.made", user, token=made.pk, scopes=sorted(scopes))
    return made, secret


def revoke_token(*, token: ApiToken) -> None:
    """Revoke a token for good. Safe to run twice."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now()):
        log_security("token.revoked", token.user, token=token.pk)


def revoke_tokens(*, user: User) -> int:
    """Revoke all tokens of a person for good, and return the number of revoked tokens."""
    count = ApiToken.objects.filter(user=user, revoked_at=None).update(revoked_at=timezone.now())
    if count:
        log_security("token.revoked", user, tokens=count)
    return count


def note_use(*, token: ApiToken) -> None:
    """Record the use of a token, once an hour, so that reading does not write each time."""
    now = timezone.now()
    if token.used_at is None or token.used_at < now - NOTED_EVERY:
        write_if_possible(lambda: ApiToken.objects.filter(pk=token.pk).update(used_at=now))


def usable_token(secret: str) -> ApiToken | None:
    """Return the token with this secret and its person, None if it is unusable. One query."""
    # The database compares digests, so the time of the search reveals nothing about the secret.
    found = _TOKENS.first(token_digest(secret))
    return found if found and found.is_usable else None


_TOKENS = compile_once(
    lambda digest: ApiToken.objects.select_related("user").filter(digest=digest, user__is_active=True), WORD
)


def tokens_of(user: User) -> list[ApiToken]:
    """Return a person's tokens that are not revoked, the newest first. One query."""
    return list(ApiToken.objects.filter(user=user, revoked_at=None))
