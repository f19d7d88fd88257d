"""The file of a backup: a zip archive with a manifest of its parts, uploads, and encrypted secrets."""

import base64
import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import default_storage
from django.views.decorators.debug import sensitive_variables

from annotate.core.files import is_local, iter_file_names, keep_file, scratch

MANIFEST, SECRETS = "manifest.json", "secrets.encrypted"
FORMAT = 1
CHUNK = 1024 * 1024


class BackupError(Exception):
    """A backup that cannot be written, read or restored; the message has the reason and the remedy."""


@dataclass
class Writer:
    archive: zipfile.ZipFile
    parts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        digest = hashlib.sha256()
        # The size is unknown at the start, and may exceed what the plain format allows.
        with self.archive.open(_entry(name), "w", force_zip64=True) as part:
            for chunk in chunks:
                digest.update(chunk)
                part.write(chunk)
        self.parts[name] = digest.hexdigest()

    def close_with(self, manifest: dict[str, Any]) -> bytes:
        """Write the manifest with the digests of all parts; return its bytes."""
        text = json.dumps({"format": FORMAT, **manifest, "parts": self.parts}, indent=1).encode()
        self.archive.writestr(_entry(MANIFEST), text)
        return text


def _entry(name: str) -> zipfile.ZipInfo:
    # Without a timestamp, and fast: most of a backup compresses well at any level.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    # The upper 16 bits are the Unix mode.
    entry.external_attr = 0o600 << 16
    return entry


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """Create a file readable only by its owner; it gets its name after it is complete."""
    if path.exists():
        raise BackupError(f"{path} exists already: name another file.")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
                yield Writer(archive)
            file.flush()
            # Before the rename, so no incomplete backup has this name after a power failure.
            os.fsync(file.fileno())
        unfinished.rename(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


@dataclass
class Reader:
    """Reads parts and checks each against its digest in the manifest."""

    archive: zipfile.ZipFile
    text: bytes
    manifest: dict[str, Any]

    def names(self, folder: str) -> list[str]:
        return [name for name in self.manifest["parts"] if name.startswith(folder)]

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a part; BackupError at its end if it differs from the written one."""
        digest = hashlib.sha256()
        with self.archive.open(name) as part:
            while chunk := part.read(CHUNK):
                digest.update(chunk)
                yield chunk
        # The consumer has read the part before this check, so an error must undo its work.
        if digest.hexdigest() != self.manifest["parts"][name]:
            raise BackupError(f"The backup is damaged: {name} is not what was written. Take another one.")


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    try:
        with zipfile.ZipFile(path) as archive:
            text = archive.read(MANIFEST)
            manifest = json.loads(text)
            if manifest["format"] != FORMAT:
                raise BackupError(f"{path} was made by another version of Concord: restore it with that one.")
            yield Reader(archive, text, manifest)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, zipfile.zlib.error) as error:  # type: ignore[attr-defined]
        raise BackupError(f"{path} is damaged, or no backup of Concord: take another one.") from error


def chunks_of(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


# Secrets are encrypted with the operator's passphrase (scrypt, then Fernet). The manifest's digest is among
# them: without the passphrase neither can be forged.
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
    # The salt is no secret; it comes first, so that unlocking finds it.
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
    # Fernet takes 32 bytes in URL-safe base64.
    return Fernet(base64.urlsafe_b64encode(derived))


FOLDER = "uploads/"


@contextmanager
def file_links() -> Iterator[Path]:
    """Create a folder of links to files, so that a file deleted during the backup is still in it."""
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR, prefix="backup-") as folder:
        yield Path(folder)


def hold_files(held: Path) -> None:
    """Link all present files.

    Called before the database is read and again after it: every file named in its rows existed at one of the
    two.
    """
    for name in iter_file_names():
        target = held / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # it was deleted since it was listed
                _hold(name, target)


def _hold(name: str, target: Path) -> None:
    if is_local():
        path = Path(default_storage.path(name))
        if path.is_symlink():
            return
        try:
            os.link(path, target)
            return
        # A deleted file cannot be copied either; `hold_files` expects this error.
        except FileNotFoundError:
            raise
        except OSError:  # some shared folders do not support links
            pass
    with default_storage.open(name, "rb") as kept, target.open("wb") as copy:
        shutil.copyfileobj(kept, copy)


def dump_files(writer: Writer, held: Path) -> int:
    paths = sorted(path for path in held.rglob("*") if path.is_file())
    for path in paths:
        with path.open("rb") as file:
            writer.add(f"{FOLDER}{path.relative_to(held).as_posix()}", chunks_of(file))
    return len(paths)


def refuse_used_folder() -> None:
    """Raise BackupError if there are uploads already: files of two installations must not mix."""
    if next(iter_file_names(), None) is not None:
        cure = f"{settings.MEDIA_ROOT} is not empty: restore into a new folder (another CONCORD_DATA)."
        raise BackupError(cure if is_local() else "The bucket is not empty: restore into a new one.")


@contextmanager
def loaded_files(reader: Reader) -> Iterator[None]:
    """Write the files of a backup, for their owner only; remove them if a later step fails."""
    try:
        for name in reader.names(FOLDER):
            path = scratch(f"restored/{uuid4().hex}")
            with path.open("wb") as file:
                for chunk in reader.chunks(name):
                    file.write(chunk)
            try:
                keep_file(path, name.removeprefix(FOLDER))
            except SuspiciousFileOperation as error:
                raise BackupError(
                    f"The backup names a file outside of its folder ({name}): do not trust it."
                ) from error
            finally:
                path.unlink(missing_ok=True)
        yield
    except BaseException:
        for name in iter_file_names():  # there was none before
            default_storage.delete(name)
        raise
