"""One file with all data of an installation: database, uploads, exports and, encrypted, its secrets."""

import json
import os
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from concord.backups.archive import (
    SECRETS,
    BackupError,
    dump_files,
    file_links,
    hold_files,
    loaded_files,
    lock_secrets,
    reading,
    refuse_used_folder,
    unlock_secrets,
    writing,
)
from concord.backups.database import dump_database, load_database, refuse_used_database

RESTORED = "restored.env"


@sensitive_variables("passphrase")
def make_backup(path: Path, *, passphrase: str) -> dict[str, Any]:
    """Write a backup and read it again; return its contents. Concord stays usable during the backup."""
    # In this order: the manifest has the digests of all parts, and the secrets that of the manifest.
    with writing(path) as writer, file_links() as held:
        hold_files(held)
        made_at = timezone.now()
        database = dump_database(writer)
        hold_files(held)
        files = dump_files(writer, held)
        manifest = writer.close_with({"made_at": made_at.isoformat(), "database": database, "files": files})
        writer.archive.writestr(SECRETS, lock_secrets(passphrase, manifest))
    # Read back at once, so that no one finds an unreadable backup only when they need it.
    return verify_backup(path, passphrase=passphrase)


@sensitive_variables("passphrase")
def verify_backup(path: Path, *, passphrase: str) -> dict[str, Any]:
    """Read all of a backup and return its contents; BackupError if any part differs from the written one."""
    with reading(path) as reader:
        unlock_secrets(passphrase, reader.archive.read(SECRETS), reader.text)
        for name in reader.manifest["parts"]:
            for _chunk in reader.chunks(name):
                pass
        manifest = reader.manifest
        tables = manifest["database"]["tables"].values()
        return {
            "made_at": datetime.fromisoformat(manifest["made_at"]),
            "database": manifest["database"]["vendor"],
            "tables": len(tables),
            "rows": sum(table["rows"] for table in tables),
            "files": manifest["files"],
            "mismatch": manifest["database"].get("mismatch", ""),
        }


@sensitive_variables("passphrase", "secrets")
def restore_backup(path: Path, *, passphrase: str) -> tuple[dict[str, Any], Path | None]:
    """Restore a backup into an empty database and folder.

    Returns its contents, and the file with the settings that this host still lacks: without them, sessions,
    invitations and keys of endpoints of the backup cannot be read here.
    """
    # Everything is checked before anything is written.
    refuse_used_database()
    refuse_used_folder()
    summary = verify_backup(path, passphrase=passphrase)
    with reading(path) as reader:
        secrets = unlock_secrets(passphrase, reader.archive.read(SECRETS), reader.text)
        with loaded_files(reader):
            load_database(reader)
    return summary, _keep_secrets(secrets)


@sensitive_variables()
def _keep_secrets(secrets: dict[str, str]) -> Path | None:
    if not os.environ.get("CONCORD_SECRET_KEY"):  # the key that this host made for itself signs nothing yet
        _write_for_owner(settings.DATA_DIR / "secret_key", secrets["CONCORD_SECRET_KEY"])
        secrets = {name: value for name, value in secrets.items() if name != "CONCORD_SECRET_KEY"}
    lacking = {name: value for name, value in secrets.items() if value and value != os.environ.get(name)}
    if not lacking:
        return None
    path: Path = settings.DATA_DIR / RESTORED
    _write_for_owner(path, "".join(f"{name}={value}\n" for name, value in lacking.items()))
    return path


@sensitive_variables("text")
def _write_for_owner(path: Path, text: str) -> None:
    # An existing file would keep its mode, which others may read by; O_EXCL demands a new one.
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)


@sensitive_variables()
def read_passphrase(file: str | None) -> str:
    """Return the passphrase from a file, or from CONCORD_BACKUP_PASSPHRASE: never from the command line."""
    # No argument holds the passphrase: other accounts of the host can list command lines.
    if file:
        try:
            return Path(file).read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BackupError(f"{file} cannot be read.") from error
    if given := os.environ.get("CONCORD_BACKUP_PASSPHRASE", "").strip():
        return given
    raise BackupError(
        "Secrets are encrypted with a passphrase: set CONCORD_BACKUP_PASSPHRASE, or name a file that holds "
        "one with --passphrase-file."
    )


def add_arguments(parser: CommandParser) -> None:
    parser.add_argument("file", help="the file of the backup, such as concord-2026-12-31.backup")
    parser.add_argument(
        "--passphrase-file",
        metavar="PATH",
        help="a file with the passphrase; otherwise it is CONCORD_BACKUP_PASSPHRASE",
    )
    parser.add_argument("--json", action="store_true", help="print what the backup holds as JSON")


def print_summary(command: BaseCommand, holds: dict[str, Any], *, as_json: bool, done: str) -> None:
    """Print the size of a backup, and a warning if `restore` rejects it."""
    if holds["mismatch"]:
        command.stderr.write(f"{holds['mismatch']} Only the version that made it restores this backup.")
    if as_json:
        command.stdout.write(json.dumps(holds, cls=DjangoJSONEncoder))
        return
    command.stdout.write(
        f"The backup of {holds['made_at']:%Y-%m-%d %H:%M:%S %Z} {done}: {holds['rows']:,} rows in "
        f"{holds['tables']} tables of {holds['database']}, {holds['files']} files."
    )
