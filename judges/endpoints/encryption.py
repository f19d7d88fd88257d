"""Encryption of endpoint keys, see annotate.core.encryption.

A key is encrypted together with its endpoint and server, so a row copied to another endpoint cannot be
decrypted.
"""

import json
from typing import TYPE_CHECKING

from django.views.decorators.debug import sensitive_variables

from annotate.core.lazy_module import LazyModule

if TYPE_CHECKING:
    from cryptography import fernet

    from annotate.core import encryption
else:
    encryption = LazyModule("annotate.core.encryption")
    fernet = LazyModule("cryptography.fernet")

PURPOSE = b"concord: keys of endpoints"


class UnreadableKeyError(Exception):
    """An encrypted key of other secrets, of another endpoint, or damaged."""


@sensitive_variables()
def encrypt(key: str, *, endpoint: int, origin: str) -> str:
    bound = json.dumps([endpoint, origin, key]).encode()
    return encryption.cipher_for(PURPOSE).encrypt(bound).decode()


@sensitive_variables()
def decrypt(encrypted: str, *, endpoint: int, origin: str) -> str:
    """Return the key; raises UnreadableKeyError."""
    try:
        bound = json.loads(encryption.cipher_for(PURPOSE).decrypt(encrypted.encode()))
    except (fernet.InvalidToken, ValueError) as error:
        raise UnreadableKeyError from error
    if bound[:2] != [endpoint, origin]:
        raise UnreadableKeyError
    return str(bound[2])


def encrypt_again(encrypted: str) -> str:
    """Encrypt a key again with the first secret; raises UnreadableKeyError."""
    try:
        return encryption.cipher_for(PURPOSE).rotate(encrypted.encode()).decode()
    except fernet.InvalidToken as error:
        raise UnreadableKeyError from error
