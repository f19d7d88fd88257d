"""manage.py restore FILE."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from concord.backups import add_arguments, print_summary, read_passphrase, restore_backup
from concord.backups.archive import BackupError


class Command(BaseCommand):
    help = "Restores a backup into an empty database and folder of uploads."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *_args: Any, file: str, **options: Any) -> None:
        try:
            passphrase = read_passphrase(options["passphrase_file"])
            holds, settings_file = restore_backup(Path(file), passphrase=passphrase)
        except BackupError as error:
            raise CommandError(str(error)) from error
        print_summary(self, holds, as_json=options["json"], done="was restored")
        if settings_file:
            self.stderr.write(
                f"Put the lines of {settings_file} into the environment of every process, then delete it."
            )
        self.stderr.write("Run `manage.py migrate` next, then start Concord.")
