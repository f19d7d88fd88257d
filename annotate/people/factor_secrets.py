"""Encrypted secrets of second factors.

Loaded only when used, with the libraries for encryption and QR codes.
"""

import qrcode
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from cryptography.fernet import InvalidToken
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables
from qrcode.image.svg import SvgPathFillImage

from annotate.core.encryption import cipher_for
from annotate.core.models import User

PURPOSE = b"concord: second factors"
SECRETS = ("secret", "seed")  # of an app's codes, and of recovery codes


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts the secrets of codes: a copy of the database is not enough to generate codes."""

    @sensitive_variables()
    def encrypt(self, text: str) -> str:
        return cipher_for(PURPOSE).encrypt(text.encode()).decode()

    @sensitive_variables()
    def decrypt(self, encrypted_text: str) -> str:
        """Return the secret. Raises PermissionDenied if the installation's keys have changed."""
        try:
            return cipher_for(PURPOSE).decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            # An unreadable factor must not count as a missing one, which would open the account.
            raise PermissionDenied(
                gettext("The server cannot check your second factor any more. Contact your administrator.")
            ) from None

    def build_totp_svg(self, url: str) -> str:
        """Return the QR code for the app on a white background, so that it is readable on a dark page."""
        return str(qrcode.make(url, image_factory=SvgPathFillImage).to_string(encoding="unicode"))


def encrypt_second_factors_again() -> tuple[int, list[User]]:
    """Re-encrypt every secret with the first key of the settings.

    Return the number of secrets and the users with unreadable secrets.
    """
    count, unreadable, cipher = 0, [], cipher_for(PURPOSE)
    for factor in Authenticator.objects.select_related("user").order_by("pk"):
        try:
            with transaction.atomic():
                # Locked, because a sign-in changes the data of recovery codes.
                locked = Authenticator.objects.select_for_update().get(pk=factor.pk)
                for name in SECRETS:
                    if name in locked.data:
                        locked.data[name] = cipher.rotate(locked.data[name].encode()).decode()
                locked.save(update_fields=["data"])
            count += 1
        except InvalidToken:
            unreadable.append(factor.user)
    return count, unreadable
