"""manage.py results PROJECT NAME."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder

from annotate.management.results import ResultsCommand
from annotate.results.queries.kept import plain_pages
from annotate.results.registry import PAGES


class Command(ResultsCommand):
    """Prints any result by its name; without a name it lists the available results."""

    page = ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("name", nargs="?", help="The result's name, as in its address.")
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="A parameter.")
        parser.add_argument("--table", help="Only the table with this key.")
        parser.add_argument("--format", choices=["csv", "md", "tex"], default="md", help="Of the tables.")
        parser.add_argument("--json", action="store_true", help="Everything, as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["name"]:
            self.stdout.write(json.dumps(plain_pages(), indent=1, cls=DjangoJSONEncoder))
            return
        if options["name"] not in PAGES:
            raise CommandError(f"There is no result {options['name']!r}; there are: {', '.join(PAGES)}.")
        known = {each.name for each in PAGES[options["name"]].parameters}
        for given in options["set"]:
            name, _, value = given.partition("=")
            if name not in known:
                raise CommandError(f"This result has no parameter {name!r}; it has: {', '.join(known)}.")
            options[name] = value
        self.page = options["name"]  # type: ignore[misc]
        super().handle(*args, **options)
