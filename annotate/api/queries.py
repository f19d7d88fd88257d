"""Queries for API tokens, by secret and by person."""

from annotate.core.models import ApiToken, User, token_digest


def usable_token(secret: str) -> ApiToken | None:
    """Return the token with this secret and its person, None if it is unusable. One query."""
    tokens = ApiToken.objects.select_related("user")
    found = tokens.filter(digest=token_digest(secret), user__is_active=True).first()
    return found if found and found.is_usable else None


def tokens_of(user: User) -> list[ApiToken]:
    """Return a person's tokens that are not revoked, the newest first. One query."""
    return list(ApiToken.objects.filter(user=user, revoked_at=None))
