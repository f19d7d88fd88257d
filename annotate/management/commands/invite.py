"""manage.py invite PROJECT EMAIL … --by EMAIL, or --file FILE of addresses."""

import sys
from argparse import ArgumentParser
from email.utils import parseaddr
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.urls import reverse

from annotate.core.errors import DomainError
from annotate.core.jobs import run_job
from annotate.core.models import Project, Role, User
from annotate.management.people import account_called
from annotate.management.printing import print_rows
from annotate.management.projects import project_called
from annotate.people.commands import INVITATION_MAIL, ask_for_mail, invite
from annotate.people.invitations import invitation_token
from annotate.people.queries import open_offers


class Command(BaseCommand):
    """Invites people to a project by links, which are printed, and mailed if asked for."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare whom to invite as what."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("email", nargs="*", help="the addresses to invite")
        parser.add_argument("--file", type=Path, help="addresses, one on a line; - for the standard input")
        parser.add_argument("--by", required=True, metavar="EMAIL", help="the admin who invites")
        parser.add_argument("--role", choices=Role.values, default=Role.ANNOTATOR)
        parser.add_argument("--note", default="", help="a description of the work, for the mail and the link")
        parser.add_argument("--site", required=True, metavar="URL", help="where people reach Concord")
        parser.add_argument("--mail", action="store_true", help="mail the links, too")
        parser.add_argument("--json", action="store_true", help="print the links as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each person; who has a link that can still be followed keeps it."""
        project, by = project_called(options["project"]), account_called(options["by"])
        emails = list(dict.fromkeys([*options["email"], *_addresses_in(options["file"])]))
        if not emails:
            raise CommandError("Name at least one address, or a --file with some.")
        for email in emails:
            _check(email)
        rows = [self._offer(project, email, by, options) for email in emails]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="")

    def _offer(self, project: Project, email: str, by: User, options: dict[str, Any]) -> dict[str, Any]:
        role, site = Role(options["role"]), options["site"]
        there = open_offers(project, role).filter(email__iexact=email).last()
        offer = there or invite(project=project, by=by, role=role, email=email, note=options["note"])
        if options["mail"] and not offer.sent_at:
            try:
                ask_for_mail(invitation=offer, site=site)
            except DomainError as error:
                raise CommandError(f"{email}: {error.message}") from error
            run_job(INVITATION_MAIL.name, offer.pk)
            offer.refresh_from_db()
        return {
            "email": email,
            "role": offer.role,
            "expires_at": offer.expires_at,
            "sent_at": offer.sent_at,
            "link": urljoin(site, reverse("invitation", args=[invitation_token(offer)])),
        }


def _addresses_in(file: Path | None) -> list[str]:
    if file is None:
        return []
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}.") from error
    return [parseaddr(line)[1] or line.strip() for line in text.splitlines() if line.strip()]


def _check(email: str) -> None:
    try:
        validate_email(email)
    except ValidationError as error:
        raise CommandError(f"{email!r} is no e-mail address.") from error
