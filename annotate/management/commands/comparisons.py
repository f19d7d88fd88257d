"""manage.py comparisons PROJECT [--size N] [--per-document N] [--remove]."""

from argparse import ArgumentParser
from typing import Any

from annotate.management.base import ConcordCommand, print_rows, project_called
from annotate.material.commands.comparisons import draw_comparisons, remove_comparisons
from annotate.material.queries.comparisons import count_by_size


class Command(ConcordCommand):
    """Creates comparisons of outputs before Round I opens, and lists their numbers."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--size", type=int, metavar="N", help="draw comparisons of so many outputs")
        parser.add_argument("--per-document", type=int, metavar="N", help="only so many for each document")
        parser.add_argument("--remove", action="store_true", help="remove all comparisons first")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        if options["remove"]:
            remove_comparisons(project=project)
        if options["size"]:
            draw_comparisons(project=project, size=options["size"], per_document=options["per_document"])
        rows = [{"size": size, "comparisons": count} for size, count in count_by_size(project).items()]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="No comparisons are drawn yet.")
