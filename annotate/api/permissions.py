"""Permissions and rate limits of tokens.

REST framework's views import this module, so it imports none of them.
"""

from typing import TYPE_CHECKING

from django.core.cache import caches
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from annotate.api.tokens import note_use, usable_token
from annotate.core.audit import log_security
from annotate.core.models import ApiToken, User

if TYPE_CHECKING:
    from rest_framework.views import APIView


class Nobody(BasePermission):
    """The default permission: rejects every request of an operation that declares no scope."""

    def has_permission(self, _request: Request, _view: "APIView") -> bool:
        return False


class HasScope(BasePermission):
    """Allows the operations of the token's scopes. `access` decides on the rights of its person."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return True if the token has the scopes of the operation, or if there is no such operation."""
        handler = getattr(view, (request.method or "").lower(), None)
        needed: tuple[str, ...] = getattr(handler, "scopes", ())
        self.message = f"This token lacks the scope {' or '.join(needed)}; make one that has it."
        if not isinstance(request.auth, ApiToken):
            return False
        # Without such an operation the view itself answers 405.
        return handler is None or bool(set(needed) & set(request.auth.scopes))


class TokenThrottle(SimpleRateThrottle):
    """Counts the requests of each token, up to CONCORD_API_RATE."""

    scope = "token"
    cache = caches["process"]

    def get_cache_key(self, request: Request, _view: "APIView") -> str | None:
        return f"api-rate-{request.auth.pk}" if isinstance(request.auth, ApiToken) else None


UNUSABLE = "This token is unknown, revoked or expired. Make another on the page “Tokens of the API”."


class TokenAuthentication(BaseAuthentication):
    """Takes `Authorization: Bearer TOKEN`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the person and the token, None if the request has no token."""
        kind, _, secret = get_authorization_header(request).partition(b" ")
        if kind.lower() != b"bearer":
            return None
        token = usable_token(secret.strip().decode("latin-1"))
        if token is None:
            log_security("token.refused", None)
            raise AuthenticationFailed(UNUSABLE)
        note_use(token=token)
        return token.user, token

    def authenticate_header(self, _request: Request) -> str:
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes TokenAuthentication in the schema."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, _auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
