"""What browsers send of passkeys: what cannot be read is refused like a wrong one, and is no error here."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.utils.translation import gettext_lazy as _

from annotate.people.sessions import device_of

# What reading it raises; allauth waits for two of them at most.
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
