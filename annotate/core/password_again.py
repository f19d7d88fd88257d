"""Password confirmation before actions that would give a stranger at an open computer lasting access."""

from collections.abc import Callable
from functools import wraps
from time import time
from typing import Any, TypeVar, cast

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows import reauthentication
from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

from annotate.core.access import FACTORS

PROVIDER_ASKED_AT = "provider_asked_at"  # in the session: when a provider of sign-in asked for a password
View = TypeVar("View", bound=Callable[..., Any])


def password_again(view: View) -> View:
    """Let a page be read, but require the password from a sender, unless it was entered recently.

    The submitted action is executed when the password is right; until then the session stores it, so this is
    not for secrets. Programs with a token need no password. Users without a password sign in again instead.
    """
    after_password = reauthentication_required(allow_get=True)(view)

    @wraps(view)
    def inner(request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        if not _has_no_password(request):
            return cast("HttpResponse", after_password(request, *args, **options))
        if request.method == "GET" or _signed_in_lately(request):
            return cast("HttpResponse", view(request, *args, **options))
        # A redirect cannot repeat a POST, so the person returns to the page with the form.
        return ask_to_sign_in_again(request, back=request.headers.get("Referer") or request.path, status=403)

    return cast("View", inner)


def ask_to_sign_in_again(request: HttpRequest, *, back: str, status: int = 200) -> HttpResponse:
    """Show the ways to sign in again for a user without a password, who then returns to `back`."""
    context = {"back": back, "has_factor": is_mfa_enabled(request.user, FACTORS)}
    return render(request, "account/sign_in_again.html", context, status=status)


def password_is_due(request: HttpRequest) -> bool:
    """Return True if a form that accepts a secret must require the password itself."""
    if _has_no_password(request):
        return not _signed_in_lately(request)
    return bool(reauthentication.is_reauthentication_required(request, app=""))


@sensitive_variables()
def give_password_again(request: HttpRequest, password: str) -> str:
    """Accept this password for a while. Return the reason if it is rejected, else an empty string."""
    if _has_no_password(request):
        return gettext(
            "You have no password here. Sign in again on Preferences, then save within a few minutes."
        )
    try:
        if not password:
            return gettext("Enter your password.")
        if not get_adapter(request).reauthenticate(request.user, password):
            return gettext("This is not your password.")
    except ValidationError as error:  # one guess too many
        return str(error.messages[0])
    reauthentication.reauthenticate_by_password(request)
    return ""


def _has_no_password(request: HttpRequest) -> bool:
    return request.user.is_authenticated and not request.user.has_usable_password()


def _signed_in_lately(request: HttpRequest) -> bool:
    # For users without a password, allauth assumes a recent confirmation. A provider with an open session did
    # not authenticate them again; the provider reports when it did.
    records = get_authentication_records(request, request.user)
    given = [each["at"] for each in records if each["method"] != "socialaccount"]
    given.append(request.session.get(PROVIDER_ASKED_AT, 0))
    return bool(time() - max(given) < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)
