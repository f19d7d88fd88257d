"""manage.py token make EMAIL, token list EMAIL, token revoke EMAIL NUMBER."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError

from annotate.api.tokens import SCOPES, make_token, revoke_token, tokens_of
from annotate.core.models import ApiToken, User
from annotate.management.base import ConcordCommand, account_called


class Command(ConcordCommand):
    """Makes, lists and revokes a person's tokens of the API."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        for name in ("make", "list", "revoke"):
            step = steps.add_parser(name)
            step.add_argument("email", help="Whose token it is.")
            step.add_argument("--json", action="store_true")
        make, revoke = steps.choices["make"], steps.choices["revoke"]
        make.add_argument("--name", default="command line", help="Its purpose.")
        make.add_argument("--scope", action="append", choices=SCOPES, help="Its rights; default: read.")
        make.add_argument("--days", type=int, default=90, help="Until it expires.")
        revoke.add_argument("number", type=int, help="As `list` shows it.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        user = account_called(options["email"])
        if options["step"] == "make":
            shown = [self._make(user, options)]
        elif options["step"] == "revoke":
            shown = [self._revoke(user, options["number"])]
        else:
            shown = [_facts(token) for token in tokens_of(user)]
        if options["json"]:
            self.stdout.write(json.dumps(shown, indent=2))
            return
        for facts in shown:
            self.stdout.write("  ".join(f"{name}: {value}" for name, value in facts.items()))

    def _make(self, user: User, options: dict[str, Any]) -> dict[str, Any]:
        token, secret = make_token(
            user=user,
            name=options["name"],
            scopes=options["scope"] or ["read"],
            lasts=timedelta(days=options["days"]),
        )
        return {**_facts(token), "token": secret}

    def _revoke(self, user: User, number: int) -> dict[str, Any]:
        token = ApiToken.objects.filter(user=user, pk=number).first()
        if token is None:
            raise CommandError(f"{user.email} has no token {number}.")
        revoke_token(token=token)
        return _facts(token)


def _facts(token: ApiToken) -> dict[str, Any]:
    return {
        "number": token.pk,
        "name": token.name,
        "beginning": token.beginning,
        "scopes": ",".join(token.scopes),
        "expires_at": token.expires_at.isoformat(timespec="minutes"),
    }
