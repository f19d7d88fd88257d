"""What every command does: it is described by its module, and says a refusal in one line."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.core.errors import DomainError


class ConcordCommand(BaseCommand):
    """A command whose help is its module's docstring, and which ends with the sentence of a DomainError."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Take the help over, unless the command has its own."""
        super().__init_subclass__(**more)
        if "help" not in vars(cls):
            cls.help = sys.modules[cls.__module__].__doc__ or ""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Do it, here as from a shell; raises CommandError for what Concord refuses."""
        try:
            return super().execute(*args, **options)
        except DomainError as error:
            raise CommandError(error.message) from error
