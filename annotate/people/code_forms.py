"""Authenticator codes: each is accepted once during its validity."""

from allauth.core.internal.cryptokit import normalize_user_code
from allauth.mfa import app_settings
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from django.core.cache import cache

# A code counts in its own period and in those before and after; allauth forgets a used one after one period.
# One period more, as the cache forgets a little early.
USABLE_SECONDS = app_settings.TOTP_PERIOD * (2 * app_settings.TOTP_TOLERANCE + 2)


class TakenOnce:
    """Rejects a code that was used before."""

    def clean_code(self) -> str:
        """Return the code, or reject it. Of two simultaneous requests with the same code, one is accepted."""
        code: str = super().clean_code()  # type: ignore[misc]
        key = f"used-code-{self.user.pk}-{normalize_user_code(code)}"  # type: ignore[attr-defined]
        if not cache.add(key, True, timeout=USABLE_SECONDS):
            raise get_adapter().validation_error("incorrect_code")
        return code


class CodeForm(TakenOnce, AuthenticateForm):  # type: ignore[misc]
    """A code in addition to the password."""


class CodeAgainForm(TakenOnce, ReauthenticateForm):  # type: ignore[misc]
    """A code instead of re-entering the password."""
