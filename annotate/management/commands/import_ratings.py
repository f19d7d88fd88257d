"""`manage.py import_ratings PROJECT FILE`: ratings recorded elsewhere, as Round I."""

from argparse import ArgumentParser
from typing import Any

from annotate.management.file_import import FileImportCommand


class Command(FileImportCommand):
    """Imports recorded ratings."""

    help = "Import ratings recorded elsewhere as ratings of Round I, which is opened if it is not open yet."
    ratings = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        super().add_arguments(parser)
        parser.add_argument("--with-items", action="store_true", help="import the file's items before")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the ratings, and before them the items if wanted."""
        self.items = options["with_items"]
        super().handle(*args, **options)
