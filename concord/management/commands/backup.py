"""manage.py backup FILE, backup FILE --verify."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from concord.backups import add_arguments, make_backup, print_summary, read_passphrase, verify_backup
from concord.backups.archive import BackupError


class Command(BaseCommand):
    """Writes a backup while Concord stays usable, or checks one."""

    help = "Writes all that this installation holds into one file: database, uploads, exports and secrets."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)
        parser.add_argument("--verify", action="store_true", help="check a backup instead of making one")

    def handle(self, *_args: Any, file: str, verify: bool, **options: Any) -> None:
        try:
            do = verify_backup if verify else make_backup
            holds = do(Path(file), passphrase=read_passphrase(options["passphrase_file"]))
        except BackupError as error:
            raise CommandError(str(error)) from error
        print_summary(self, holds, as_json=options["json"], done="is whole" if verify else "was written")
