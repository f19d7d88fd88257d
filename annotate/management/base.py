"""The base of all commands: the module's docstring is the help, and a rejection is a one-line error."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.core.errors import DomainError


class ConcordCommand(BaseCommand):
    """A command with its module's docstring as help. It ends with the message of a DomainError."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "help" not in vars(cls):
            cls.help = sys.modules[cls.__module__].__doc__ or ""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command, here as from a shell. Raises CommandError for rejections by Concord."""
        try:
            return super().execute(*args, **options)
        except DomainError as error:
            raise CommandError(error.message) from error
