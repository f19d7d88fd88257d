"""manage.py audit PROJECT."""

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from annotate.management.base import ConcordCommand, project_called
from annotate.watching.queries.audit import AuditFilter, audit_rows


class Command(ConcordCommand):
    """Prints the audit log of a project, the oldest act first."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--since", metavar="DAY", help="from this day on, as 2026-12-31")
        parser.add_argument("--what", default="", metavar="KIND", help="acts on this kind of thing: round")
        parser.add_argument("--json", action="store_true", help="one JSON object a line, with all it holds")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each act. Memory does not grow with their number."""
        wanted = AuditFilter(what=options["what"], since=_day(options["since"]))
        for row in audit_rows(project_called(options["project"]), wanted):
            if options["json"]:
                self.stdout.write(json.dumps(row, ensure_ascii=False, cls=DjangoJSONEncoder))
            else:
                at = timezone.localtime(row["at"]).isoformat(" ", "seconds")
                self.stdout.write(
                    f"{at}  {row['act']}  {row['subject']}  by {row['who'] or 'the command line'}"
                )


def _day(given: str | None) -> datetime | None:
    if given is None:
        return None
    try:
        return timezone.make_aware(datetime.fromisoformat(given)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise CommandError(f"{given!r} is no day; write --since 2026-12-31.") from None
