"""Encryption of secret columns, with keys that are not in the database.

The keys are those in CONCORD_KEY_ENCRYPTION, the first for new values, followed by the secret key and its
fallbacks. Values that were encrypted before the setting existed can be read until they are encrypted again.
"""

import base64
from functools import lru_cache

from cryptography import fernet
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.kdf import hkdf
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

BYTES = 32  # of a Fernet key


def cipher_for(purpose: bytes) -> fernet.MultiFernet:
    """Return the cipher of one purpose. It encrypts with the first secret and decrypts with any."""
    fallbacks = (str(each) for each in settings.SECRET_KEY_FALLBACKS)
    return _cipher(purpose, (*settings.KEY_ENCRYPTION, settings.SECRET_KEY, *fallbacks))


@lru_cache(maxsize=8)
@sensitive_variables()
def _cipher(purpose: bytes, secrets: tuple[str, ...]) -> fernet.MultiFernet:
    return fernet.MultiFernet([fernet.Fernet(_derive(purpose, secret)) for secret in secrets])


@sensitive_variables()
def _derive(purpose: bytes, secret: str) -> bytes:
    # The secrets are random and long, so no slow derivation is needed; one for this purpose alone is.
    derived = hkdf.HKDF(algorithm=hashes.SHA256(), length=BYTES, salt=None, info=purpose)
    return base64.urlsafe_b64encode(derived.derive(secret.encode()))
