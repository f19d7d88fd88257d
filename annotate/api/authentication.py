"""Authentication of API requests: by token only, never by session."""

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from annotate.api.commands import note_use
from annotate.api.queries import usable_token
from annotate.core.audit import log_security
from annotate.core.models import ApiToken, User

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
        """Return the value of the `WWW-Authenticate` header."""
        return "Bearer"


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """Describes TokenAuthentication in the schema."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, _auto_schema: object) -> dict[str, str]:
        """Return the scheme."""
        return {"type": "http", "scheme": "bearer"}
