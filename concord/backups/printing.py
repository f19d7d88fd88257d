"""Shared arguments and output of both commands."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.core.serializers.json import DjangoJSONEncoder


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
