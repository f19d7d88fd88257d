"""Encrypting the keys of endpoints, with secrets that the database does not have.

The secrets are those of CONCORD_KEY_ENCRYPTION, the first for what is new, and after them the secret key and
its fallbacks: what was encrypted before a setting was made can be read until it is encrypted again. A key is
encrypted together with its endpoint and server, so a row that someone copied to another endpoint is refused.
"""

import base64
import json
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from judges.core.lazy_module import LazyModule

if TYPE_CHECKING:
    from cryptography import fernet
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.kdf import hkdf
else:
    fernet = LazyModule("cryptography.fernet")
    hashes = LazyModule("cryptography.hazmat.primitives.hashes")
    hkdf = LazyModule("cryptography.hazmat.primitives.kdf.hkdf")

PURPOSE = b"concord: keys of endpoints"
BYTES = 32  # of a Fernet key


class UnreadableKeyError(Exception):
    """An encrypted key of other secrets, of another endpoint, or damaged."""


@sensitive_variables()
def encrypt(key: str, *, endpoint: int, origin: str) -> str:
    """Return a key encrypted for one endpoint and server."""
    bound = json.dumps([endpoint, origin, key]).encode()
    return _fernet(_secrets()).encrypt(bound).decode()


@sensitive_variables()
def decrypt(encrypted: str, *, endpoint: int, origin: str) -> str:
    """Return the key; raises UnreadableKeyError."""
    try:
        bound = json.loads(_fernet(_secrets()).decrypt(encrypted.encode()))
    except (fernet.InvalidToken, ValueError) as error:
        raise UnreadableKeyError from error
    if bound[:2] != [endpoint, origin]:
        raise UnreadableKeyError
    return str(bound[2])


def encrypt_again(encrypted: str) -> str:
    """Return the same with the first secret; raises UnreadableKeyError."""
    try:
        return _fernet(_secrets()).rotate(encrypted.encode()).decode()
    except fernet.InvalidToken as error:
        raise UnreadableKeyError from error


def _secrets() -> tuple[str, ...]:
    fallbacks = (str(each) for each in settings.SECRET_KEY_FALLBACKS)
    return (*settings.KEY_ENCRYPTION, settings.SECRET_KEY, *fallbacks)


@lru_cache(maxsize=4)
@sensitive_variables()
def _fernet(secrets: tuple[str, ...]) -> "fernet.MultiFernet":
    return fernet.MultiFernet([fernet.Fernet(_derive(secret)) for secret in secrets])


@sensitive_variables()
def _derive(secret: str) -> bytes:
    # The secrets are random and long, so no slow derivation is needed; one for this purpose alone is.
    derived = hkdf.HKDF(algorithm=hashes.SHA256(), length=BYTES, salt=None, info=PURPOSE)
    return base64.urlsafe_b64encode(derived.derive(secret.encode()))
