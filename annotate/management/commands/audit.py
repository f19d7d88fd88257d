"""manage.py audit PROJECT, audit --verify, audit --head."""

import json
from argparse import ArgumentParser
from datetime import datetime
from typing import Any

from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from annotate.core.models import AuditRetention, ErasedEntry
from annotate.management.base import ConcordCommand
from annotate.management.projects import project_called
from annotate.watching.queries.audit import audit_rows
from annotate.watching.queries.audit_sources import AuditFilter
from annotate.watching.seals import problems_of, seal_entries, signed_head


class Command(ConcordCommand):
    """Prints who did what and when in a project, the oldest act first."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", nargs="?", help="the project's short name, as in its address")
        parser.add_argument(
            "--verify",
            nargs="?",
            const="",
            metavar="HEAD",
            help="check that nothing of any log was changed or removed, and that this head was there",
        )
        parser.add_argument("--head", action="store_true", help="print a signed head to store elsewhere")
        parser.add_argument("--since", metavar="DAY", help="from this day on, as 2026-12-31")
        parser.add_argument("--what", default="", metavar="KIND", help="acts on this kind of thing: round")
        parser.add_argument("--json", action="store_true", help="one JSON object a line, with all it holds")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each act; memory does not grow with them."""
        if options["head"] or options["verify"] is not None:
            self._seals(options["verify"], wants_head=options["head"])
            return
        if not options["project"]:
            raise CommandError("Name a project, or check all logs with --verify.")
        wanted = AuditFilter(what=options["what"], since=_day(options["since"]))
        for row in audit_rows(project_called(options["project"]), wanted):
            if options["json"]:
                self.stdout.write(json.dumps(row, ensure_ascii=False, cls=DjangoJSONEncoder))
            else:
                at = timezone.localtime(row["at"]).isoformat(" ", "seconds")
                self.stdout.write(
                    f"{at}  {row['act']}  {row['subject']}  by {row['who'] or 'the command line'}"
                )

    def _seals(self, head: str | None, *, wants_head: bool) -> None:
        while seal_entries():
            pass
        if head is not None:
            problems = list(problems_of(head))
            if problems:
                raise CommandError("\n".join(problems))
            gone = AuditRetention.objects.order_by("up_to").last()
            until = (
                f" Entries from before {gone.before:%Y-%m-%d} were removed, as the operator keeps them."
                if gone
                else ""
            )
            erased = ErasedEntry.objects.values("entry").distinct().count()
            replaced = f" Erasing replaced names of people in {erased} entries." if erased else ""
            self.stdout.write(f"The audit log is whole.{until}{replaced}")
        if wants_head:
            self.stdout.write(signed_head())


def _day(given: str | None) -> datetime | None:
    if given is None:
        return None
    try:
        return timezone.make_aware(datetime.fromisoformat(given))
    except ValueError:
        raise CommandError(f"{given!r} is no day; write --since 2026-12-31.") from None
