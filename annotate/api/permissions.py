"""What a token may be used for, and how often. REST framework's views need this module, so it needs none."""

from typing import TYPE_CHECKING

from django.core.cache import caches
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from annotate.core.models import ApiToken

if TYPE_CHECKING:
    from rest_framework.views import APIView


class Nobody(BasePermission):
    """What holds where an operation does not say what it needs."""

    def has_permission(self, _request: Request, _view: "APIView") -> bool:
        """Refuse."""
        return False


class HasScope(BasePermission):
    """Lets a token do what one of its scopes allows; what its person may do is decided in access."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """Return whether the operation's scopes, if there is such an operation, meet the token's."""
        handler = getattr(view, (request.method or "").lower(), None)
        needed: tuple[str, ...] = getattr(handler, "scopes", ())
        self.message = f"This token lacks the scope {' or '.join(needed)}; make one that has it."
        if not isinstance(request.auth, ApiToken):
            return False
        return handler is None or bool(set(needed) & set(request.auth.scopes))


class TokenThrottle(SimpleRateThrottle):
    """Counts the requests of each token, at most CONCORD_API_RATE."""

    scope = "token"
    cache = caches["process"]

    def get_cache_key(self, request: Request, _view: "APIView") -> str | None:
        """Return under what the token's requests are counted."""
        return f"api-rate-{request.auth.pk}" if isinstance(request.auth, ApiToken) else None
