"""`manage.py import_ratings PROJECT FILE`: ratings recorded elsewhere, of Round I or Round II."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.disputes.commands.recorded import RoundTwoCheck, RoundTwoWriting
from annotate.management.file_import import FileImportCommand


class Command(FileImportCommand):
    help = "Import ratings recorded elsewhere, of Round I or Round II, which is opened if it is not open yet."
    ratings = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--with-items", action="store_true", help="import the file's items before")
        parser.add_argument(
            "--round",
            type=int,
            choices=(1, 2),
            default=1,
            help="the round of the ratings; ratings of Round II answer its disputes",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the ratings, preceded by the items if requested."""
        self.items = options["with_items"]
        if options["round"] == 2:
            if self.items:
                raise CommandError("Items come in with Round I: use --with-items without --round 2.")
            self.checking, self.writing = RoundTwoCheck, RoundTwoWriting
        super().handle(*args, **options)
