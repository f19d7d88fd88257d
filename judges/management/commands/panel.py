"""manage.py panel PROJECT NAME [--judge NAME ... --rule RULE]."""

import json
from argparse import ArgumentParser
from typing import Any

from annotate.core.models import Project
from annotate.management.base import ConcordCommand
from annotate.management.projects import project_called
from judges.core.models import Judge, Panel
from judges.laboratory.commands.panels import compute_panel, make_panel
from judges.laboratory.queries.panels import PanelValues, members_of
from judges.results.queries.pairings import judge_called


class Command(ConcordCommand):
    """Makes one judge of several, or computes a panel anew from what its members say now.

    Values are the mean, the median, the majority, or a weighted sum whose weights are learned on a share of
    the documents, which have no values of the panel then. An item has a value where all members have one.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the project, the panel and its members."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("name", help="the name of the panel; an existing one is recomputed")
        parser.add_argument("--judge", action="append", metavar="NAME", help="a member; give two or more")
        parser.add_argument("--rule", choices=Panel.Rule.values, default=Panel.Rule.MEAN)
        parser.add_argument(
            "--development",
            type=float,
            metavar="SHARE",
            help="of the documents, to learn weights; left out: those for teaching",
        )
        parser.add_argument("--json", action="store_true", help="print what was computed as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Make or compute the panel, and print its dimensions."""
        project = project_called(options["project"])
        panel = self._panel(project, options)
        figures = compute_panel(panel=panel, by=None)
        names = [judge.name for judge in members_of(panel)]
        rows = [_row(each, names) for each in figures.by_dimension]
        if options["json"]:
            documents = list(figures.development_documents)
            self.stdout.write(json.dumps({"dimensions": rows, "development_documents": documents}))
            return
        for row in rows:
            self.stdout.write(_line(row))
        if figures.development_documents:
            self.stdout.write(f"Documents of the development sample: {len(figures.development_documents)}.")

    def _panel(self, project: Project, options: dict[str, Any]) -> Panel:
        found = Panel.objects.filter(judge__project=project, judge__name=options["name"]).first()
        if found is not None and not options["judge"]:
            return found
        judges = list(Judge.objects.filter(project=project))
        members = [judge_called(judges, name) for name in options["judge"] or []]
        return make_panel(
            project=project,
            name=options["name"],
            members=members,
            rule=options["rule"],
            development_share=options["development"],
            by=None,
        )


def _row(said: PanelValues, names: list[str]) -> dict[str, Any]:
    weights = said.weights and dict(zip(names, said.weights.weights, strict=True))
    return {
        "dimension": said.dimension.key,
        "values": int((said.values == said.values).sum()),
        "mean_spread": said.mean_spread,
        "weights": weights,
        "intercept": said.weights and said.weights.intercept,
        "problem": said.problem,
    }


def _line(row: dict[str, Any]) -> str:
    if row["problem"]:
        return f"{row['dimension']}: {row['problem']}"
    spread = "" if row["mean_spread"] is None else f", mean spread {row['mean_spread']:.3f}"
    weights = row["weights"] or {}
    learned = "".join(f", {name} {weight:.3f}" for name, weight in weights.items())
    return f"{row['dimension']}: {row['values']:,} values{spread}{learned}"
