"""manage.py compute_metrics PROJECT METRIC..."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import ConcordCommand, project_called
from judges.metrics.commands import compute_metrics
from judges.metrics.computing import MEASURES, PackageMissingError


class Command(ConcordCommand):
    """Computes metrics of a project's outputs; existing values are not computed again."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's slug, as its address has it")
        parser.add_argument("metric", nargs="+", choices=list(MEASURES), help="what to compute")
        parser.add_argument(
            "--reference",
            action="append",
            default=[],
            metavar="SYSTEM",
            help="a system whose texts are the references of ROUGE, chrF and BLEU; several are possible",
        )

        parser.add_argument("--json", action="store_true", help="print the numbers of new values as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        measures = [MEASURES[key] for key in options["metric"]]
        references = options["reference"]
        without = [measure.label for measure in measures if measure.needs_references and not references]
        if without:
            raise CommandError(
                f"{', '.join(without)}: say with --reference which system’s texts are the references."
            )
        project = project_called(options["project"])
        try:
            made = compute_metrics(project=project, measures=measures, references=references)
        except PackageMissingError as error:
            raise CommandError(
                f"{error} is not installed; run .venv/bin/python -m pip install -r requirements-metrics.txt."
            ) from error
        if options["json"]:
            self.stdout.write(json.dumps(made, ensure_ascii=False))
            return
        for name, number in made.items():
            self.stdout.write(f"{name}: {number:,} new value{'' if number == 1 else 's'}.")
