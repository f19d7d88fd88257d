"""manage.py webhooks PROJECT [--add URL --event EVENT … | --remove NUMBER | --enable NUMBER] [--by EMAIL]."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project, Webhook
from annotate.management.base import ConcordCommand
from annotate.management.people import account_called
from annotate.management.printing import print_rows
from annotate.management.projects import project_called
from annotate.webhooks.commands import add_webhook, enable_webhook, remove_webhook
from annotate.webhooks.events import EVENTS


class Command(ConcordCommand):
    """Lists, adds, enables and removes the addresses that a project's events are sent to."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="the project's short name, as in its address")
        step = parser.add_mutually_exclusive_group()
        step.add_argument("--add", metavar="URL", help="send events there; its secret is printed once")
        step.add_argument("--enable", type=int, metavar="NUMBER", help="enable one that was disabled")
        step.add_argument("--remove", type=int, metavar="NUMBER", help="send nothing there any more")
        parser.add_argument(
            "--event", action="append", choices=list(EVENTS), help="with --add, once for each"
        )
        parser.add_argument("--by", metavar="EMAIL", help="who does it")
        parser.add_argument("--json", action="store_true", help="print the webhooks as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Take the step and print a line for each webhook."""
        project = project_called(options["project"])
        secrets = _take_step(project, options)
        rows = [
            {
                "number": each.pk,
                "url": each.url,
                "events": each.events,
                "disabled_because": each.disabled_because or None,
                **({"secret": secrets.get(each.pk)} if secrets else {}),
            }
            for each in project.webhooks.all()
        ]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="The project has no webhooks.")


def _take_step(project: Project, options: dict[str, Any]) -> dict[int, str]:
    """Add, enable or remove a webhook; return the secret of a new one by its number."""
    if not any(options[step] for step in ("add", "enable", "remove")):
        return {}
    if not options["by"]:
        raise CommandError("Say who does it, with --by EMAIL.")
    by = account_called(options["by"])
    if options["add"]:
        if project.webhooks.filter(url=options["add"]).exists():
            return {}
        made, secret = add_webhook(project=project, url=options["add"], events=options["event"] or [], by=by)
        return {made.pk: secret}
    number = options["enable"] or options["remove"]
    webhook = Webhook.objects.filter(project=project, pk=number).first()
    if webhook is None:
        raise CommandError(f"The project has no webhook {number}.")
    (enable_webhook if options["enable"] else remove_webhook)(webhook=webhook, by=by)
    return {}
