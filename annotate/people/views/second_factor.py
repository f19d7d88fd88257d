"""Turning one's own second factor on and off: allauth's pages, recorded in each project's audit log."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.views import ReauthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from allauth.mfa.webauthn.internal.auth import begin_authentication, begin_registration
from allauth.mfa.webauthn.views import AddWebAuthnView, ReauthenticateWebAuthnView, RemoveWebAuthnView
from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _

from annotate.core.page import request_user
from annotate.core.password_again import password_again
from annotate.people.account_changes import AccountChange, note_account_change
from annotate.people.second_factor import record_own_change
from annotate.people.sessions import device_of

# What reading it raises; allauth waits for two of them at most.
# Passkeys that browsers send. An unreadable one is rejected like a wrong one.

UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError, struct.error)


@contextmanager
def refuse_unreadable() -> Iterator[None]:
    """Raise ValidationError for what is no answer of a passkey."""
    try:
        yield
    except UNREADABLE as error:
        raise get_adapter().validation_error("incorrect_code") from error


class PasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    """What a new passkey is called; each one signs in alone, so allauth's question for that is left out."""

    name = forms.CharField(label=_("Name"), required=False, max_length=60)

    def __init__(self, *args: Any, **options: Any) -> None:
        agent = context.request.headers.get("User-Agent", "")
        super().__init__(*args, **{**options, "initial": {"name": device_of(agent)}})
        del self.fields["passwordless"]

    def clean(self) -> dict[str, Any]:
        """Check it, or refuse it."""
        with refuse_unreadable():
            values: dict[str, Any] = super().clean()
        return values


class CheckedAnswer:
    """The answer of a passkey that was added before."""

    def clean_credential(self) -> Authenticator:
        """Return whose it is, or refuse it."""
        with refuse_unreadable():
            return super().clean_credential()  # type: ignore[misc]


class PasskeyLoginForm(CheckedAnswer, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey in place of the password."""


class PasskeyFactorForm(CheckedAnswer, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey beside the password."""


class PasskeyAgainForm(CheckedAnswer, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey in place of the password that is asked for again."""


def _record(request: HttpRequest, change: AccountChange, kind: str) -> None:
    record_own_change(request_user(request), change, kind=kind, session=request.session.session_key)


@method_decorator(password_again, name="dispatch")
class Activate(ActivateTOTPView):  # type: ignore[misc]
    """Sets the factor up, once a code of the app is right."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and record that."""
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_ADDED, "codes of an app")
        return response


@method_decorator(password_again, name="dispatch")
class Deactivate(DeactivateTOTPView):  # type: ignore[misc]
    """Turns the factor off."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Forget it, and record that."""
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_REMOVED, "codes of an app")
        return response


@method_decorator(password_again, name="dispatch")
class AddPasskey(AddWebAuthnView):  # type: ignore[misc]
    """Adds a passkey: one that the device keeps and unlocks, so that it can stand for the password."""

    form_class = PasskeyForm

    def get_context_data(self, **options: Any) -> dict[str, Any]:
        """Ask the browser for one that needs no other name of the account."""
        context: dict[str, Any] = super().get_context_data(**options)
        context["js_data"] = begin_registration(request_user(self.request), passwordless=True)
        return context

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Keep it, and record that."""
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_ADDED, f"passkey {form.cleaned_data['name']}")
        return response


@method_decorator(password_again, name="dispatch")
class RemovePasskey(RemoveWebAuthnView):  # type: ignore[misc]
    """Removes a passkey."""

    success_url = reverse_lazy("mfa_index")

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Forget it, and record that."""
        name = self.get_object().wrap().name
        response: HttpResponse = super().form_valid(form)
        _record(self.request, AccountChange.FACTOR_REMOVED, f"passkey {name}")
        return response


@method_decorator(password_again, name="dispatch")
class MakeRecoveryCodes(GenerateRecoveryCodesView):  # type: ignore[misc]
    """Makes new recovery codes in place of the old ones."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Make them, and tell the person."""
        response: HttpResponse = super().form_valid(form)
        user, session = request_user(self.request), self.request.session.session_key
        note_account_change(user=user, change=AccountChange.CODES_MADE, session=session)
        return response


class CodeAgain(ReauthenticateView):  # type: ignore[misc]
    """Asks for a code, or a passkey, where others give their password again."""

    template_name = "account/reauthenticate.html"


class PasskeyAgain(ReauthenticateWebAuthnView):  # type: ignore[misc]
    """Takes a passkey in place of the password that is asked for again."""

    def get(self, request: HttpRequest, *_: Any, **__: Any) -> HttpResponse:
        """Tell the script of the page what the device is to sign; a person goes to the page."""
        if not request.accepts("text/html"):
            return JsonResponse({"request_options": begin_authentication(request_user(request))})
        return redirect(self.passthrough_next_url(reverse("account_reauthenticate")))

    def form_invalid(self, form: Any) -> HttpResponse:
        """Go back to the page with the reason."""
        for each in form.errors.get("credential", []):
            messages.error(self.request, each)
        return redirect(self.passthrough_next_url(reverse("account_reauthenticate")))
