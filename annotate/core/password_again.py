"""Asking for the password again before what would let a stranger at an open computer stay."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows import reauthentication
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

View = TypeVar("View", bound=Callable[..., Any])


def password_again(view: View) -> View:
    """Let a page be read, but ask who sends something for the password, unless it was given just now.

    What was sent is done when the password is right; until then the session keeps it, so this is not for
    secrets. Programs, which sign in by a token, are not asked.
    """
    return cast("View", reauthentication_required(allow_get=True)(view))


def password_is_due(request: HttpRequest) -> bool:
    """Return whether a form that takes a secret must ask for the password itself."""
    return bool(reauthentication.is_reauthentication_required(request, app=""))


@sensitive_variables()
def give_password_again(request: HttpRequest, password: str) -> str:
    """Let this password count for a while; return why it does not, empty where it does."""
    try:
        if not password:
            return gettext("Enter your password.")
        if not get_adapter(request).reauthenticate(request.user, password):
            return gettext("This is not your password.")
    except ValidationError as error:  # one guess too many
        return str(error.messages[0])
    reauthentication.reauthenticate_by_password(request)
    return ""
