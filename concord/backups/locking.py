"""The secret parts of a backup, encrypted with the operator's passphrase (scrypt, then Fernet).

The manifest's digest is among the secrets: without the passphrase neither can be forged.
"""

import base64
import hashlib
import json
import os
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from concord.backups.archive import BackupError

SHORTEST_PASSPHRASE = 12  # characters
SALT_BYTES = 16
WORK = 2**16  # a tenth of a second and 64 MB for each guess


@sensitive_variables()
def lock_secrets(passphrase: str, manifest: bytes) -> bytes:
    """Return the secrets that read and sign the database's contents, encrypted."""
    if len(passphrase) < SHORTEST_PASSPHRASE:
        raise BackupError(f"A passphrase has at least {SHORTEST_PASSPHRASE} characters.")
    secrets = {
        "CONCORD_SECRET_KEY": settings.SECRET_KEY,
        "CONCORD_KEY_ENCRYPTION": ",".join(settings.KEY_ENCRYPTION),
        "CONCORD_SECRET_KEY_FALLBACKS": ",".join(map(str, settings.SECRET_KEY_FALLBACKS)),
    }
    locked = {"manifest": hashlib.sha256(manifest).hexdigest(), "secrets": secrets}
    salt = os.urandom(SALT_BYTES)
    return salt + _cipher(passphrase, salt).encrypt(json.dumps(locked).encode())


@sensitive_variables()
def unlock_secrets(passphrase: str, locked: bytes, manifest: bytes) -> dict[str, str]:
    """Return the secrets; BackupError for another passphrase, or a manifest that has changed since."""
    salt, token = locked[:SALT_BYTES], locked[SALT_BYTES:]
    try:
        found: dict[str, Any] = json.loads(_cipher(passphrase, salt).decrypt(token))
    except InvalidToken as error:
        raise BackupError("The passphrase is not the one of this backup.") from error
    if found["manifest"] != hashlib.sha256(manifest).hexdigest():
        raise BackupError("The backup was changed after it was made: take another one.")
    secrets: dict[str, str] = found["secrets"]
    return secrets


@sensitive_variables()
def _cipher(passphrase: str, salt: bytes) -> Fernet:
    derived = Scrypt(salt=salt, length=32, n=WORK, r=8, p=1).derive(passphrase.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
