"""The base of all commands, the project or person that a command is about, and the rows that it prints."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper
from django.core.serializers.json import DjangoJSONEncoder

from annotate.core.errors import DomainError
from annotate.core.models import Project, User


class ConcordCommand(BaseCommand):
    """A command with its module's docstring as help. It ends with the message of a DomainError."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        # `vars` and not `getattr`: every class inherits the attribute from Django's command.
        if "help" not in vars(cls):
            cls.help = sys.modules[cls.__module__].__doc__ or ""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run the command, here as from a shell. Raises CommandError for rejections by Concord."""
        try:
            return super().execute(*args, **options)
        except DomainError as error:
            raise CommandError(error.message) from error


def person_called(email: str | None) -> User | None:
    """Return the person, None without an e-mail. Raises CommandError if no account has it."""
    return None if email is None else account_called(email)


def account_called(email: str) -> User:
    """Return the person with this e-mail. Raises CommandError if no account has it."""
    found = User.objects.filter(email=email.strip().lower()).first()
    if found is None:
        raise CommandError(f"Nobody has an account with the address {email!r}.")
    return found


def project_called(slug: str) -> Project:
    """Return the project. Raises CommandError with a list of the existing projects."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise CommandError(f"There is no project {slug!r}; there are: {known}.")
    return project


Row = Mapping[str, Any]


def print_rows(out: OutputWrapper, rows: Iterable[Row], *, as_json: bool, nothing: str) -> None:
    """Print a JSON list of objects, or aligned lines with a header. nothing: printed if there are no rows."""
    found = list(rows)
    if as_json:
        out.write(json.dumps(found, ensure_ascii=False, indent=1, cls=DjangoJSONEncoder))
    elif found:
        cells = [list(found[0]), *([_format_value(value) for value in row.values()] for row in found)]
        widths = [max(len(row[index]) for row in cells) for index in range(len(cells[0]))]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in cells
        ]
        out.write("\n".join(lines))
    else:
        out.write(nothing)


def _format_value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.isoformat(" ", "minutes") if hasattr(value, "isoformat") else str(value)


class TerminalLine:
    """Rewrites one line of a terminal, and nothing if the stream is none."""

    def __init__(self, stream: OutputWrapper, wanted: bool) -> None:
        self._stream = stream
        # A log file would contain every state of the line.
        self._wanted = wanted and stream.isatty()

    def show(self, text: str) -> None:
        if self._wanted:
            self._stream.write(f"\r{text}   ", ending="")
            self._stream.flush()

    def end(self) -> None:
        if self._wanted:
            self._stream.write("\r" + " " * 60 + "\r", ending="")


class RowCounter(TerminalLine):
    """Shows the number of processed rows."""

    def __call__(self, rows: int) -> None:
        self.show(f"{rows:,} rows")


class ProgressLine(TerminalLine):
    """Shows the progress of an import."""

    def __call__(self, stage: str, fraction: float, lines: int = 0, _report: Any = None, /) -> None:
        self.show(f"{stage}: {fraction:4.0%}, {lines:,} lines")
