"""Does one job for each line that it reads, for benchmarks/saves_beside_jobs.py: ... DOCUMENTS."""

import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

os.environ["CONCORD_BROKER_URL"] = "memory://"
import django

django.setup()

from django.core.files import File  # noqa: E402

from annotate.core.jobs import run_job  # noqa: E402
from annotate.core.models import (  # noqa: E402
    AssignmentPlan,
    DataImport,
    Dispute,
    Export,
    Project,
    Role,
    User,
)
from annotate.exports.choice import ExportChoice, Format  # noqa: E402
from annotate.exports.commands import start_export  # noqa: E402
from annotate.management.demonstration import load_demonstration  # noqa: E402
from annotate.material.commands.uploads import (  # noqa: E402
    receive_upload,
    start_upload,
    undo_import,
)
from annotate.material.reading.guessing import guess_mapping  # noqa: E402
from annotate.material.reading.mapping_json import mapping_to_json  # noqa: E402
from annotate.material.reading.readers import first_records  # noqa: E402
from annotate.material.reading.rows import Record  # noqa: E402
from annotate.people.commands import add_member  # noqa: E402
from annotate.rating.commands.plans import choose_plan  # noqa: E402
from annotate.rating.commands.rounds import (  # noqa: E402
    close_round_one,
    close_round_two,
    open_round_one,
    open_round_two,
)
from annotate.results.commands import compute_page  # noqa: E402
from annotate.results.registry import result_called  # noqa: E402
from annotate.setup.commands import create_project, delete_project  # noqa: E402
from annotate.setup.presets import TEMPLATES  # noqa: E402
from judges.core.models import Endpoint, Judge  # noqa: E402
from judges.core.specification import PolicySpec, Scope  # noqa: E402
from judges.endpoints.commands import create_template  # noqa: E402
from judges.interchange.commands import JUDGMENTS  # noqa: E402
from judges.interchange.reading import guess_judgment_mapping  # noqa: E402
from judges.metrics.commands import METRICS, compute_metrics  # noqa: E402
from judges.metrics.computing import MEASURES  # noqa: E402
from judges.metrics.reading import guess_metric_mapping  # noqa: E402
from judges.routing.commands.policies import make_policy, route  # noqa: E402
from judges.runs.commands.runs import plan_run  # noqa: E402

SYSTEMS, RATERS = 13, ("A1", "A2", "A3")
What = DataImport.What
chance = random.Random(7)
admin = User.objects.create_user("jobs@example.org")
project = create_project(user=admin, name="Jobs", template=TEMPLATES["opinion-summaries"])
project.raters_per_item = len(RATERS)
project.save(update_fields=["raters_per_item"])
dimensions = list(project.dimensions.values_list("key", flat=True))
units = [(f"d{document}", f"s{system}") for document in range(int(sys.argv[1])) for system in range(SYSTEMS)]
words = [f"word{number}" for number in range(500)]
first: dict[tuple[str, str, str, str], int] = {}


def text(count: int) -> str:
    return " ".join(chance.choices(words, k=count))


def bring(
    records: list[dict[str, object]], what: str = "", kind: str = "material", into: Project = project
) -> DataImport:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.jsonl")
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        with path.open("rb") as file:
            made = receive_upload(project=into, by=admin, file=File(file), name=path.name, kind=kind)
        if kind == JUDGMENTS:
            mapping = guess_judgment_mapping(records[0], {}).to_json()
        elif kind == METRICS:
            mapping = guess_metric_mapping(
                [each for each in first_records(path) if isinstance(each, Record)]
            ).to_json()
        else:
            mapping = mapping_to_json(guess_mapping(first_records(path)))
    start_upload(data_import=made, mapping=mapping, what=what)
    run_job("import", made.pk)
    made.refresh_from_db()
    if made.status != DataImport.Status.IMPORTED:
        sys.exit(f"{made.status}: {made.message} {made.report}")
    return made


def items(into: Project = project) -> DataImport:
    articles = {document: text(300) for document, _ in units}
    return bring(
        [
            {"document_id": document, "article": articles[document], "system": system, "text": text(60)}
            for document, system in units
        ],
        What.ITEMS,
        into=into,
    )


def ratings() -> None:
    for unit in units:
        for dimension in dimensions:
            middle = chance.randint(1, 5)
            for rater in RATERS:
                value = min(max(middle + chance.choice((-1, 0, 0, 0, 1, 2)), 1), 5)
                first[*unit, dimension, rater] = value
    bring(
        [
            {
                "document_id": document,
                "system": system,
                "dimension": dimension,
                "rater": rater,
                "value": value,
            }
            for (document, system, dimension, rater), value in first.items()
        ],
        What.RATINGS,
    )


def answers() -> None:
    found = Dispute.objects.filter(round__project=project)
    named = found.values_list("item__document__key", "item__system__name", "dimension__key")
    bring(
        [
            {
                "document_id": document,
                "system": system,
                "dimension": dimension,
                "rater": rater,
                "value": first[document, system, dimension, rater if chance.random() < 0.3 else "A1"],
            }
            for document, system, dimension in named
            for rater in RATERS
        ],
        What.ANSWERS,
    )


def judgments(into: Project = project, methods: tuple[str, ...] = ("direct",)) -> None:
    bring(
        [
            {
                "judge": method,
                "method": method,
                "document": document,
                "system": system,
                "dimension": dimension,
                "value": chance.randint(1, 5),
            }
            for method in methods
            for document, system in units
            for dimension in dimensions
        ],
        kind=JUDGMENTS,
        into=into,
    )


def export() -> None:
    made = start_export(project=project, choice=ExportChoice(Format.JSONL), by=admin)
    run_job("export", made.pk)
    made.refresh_from_db()
    if made.status != Export.Status.READY:
        sys.exit(f"{made.status}: {made.message}")


def results() -> None:
    compute_page(project=project, result=result_called(project, "agreement"))


def plan() -> None:
    endpoint = Endpoint.objects.create(project=project, name="E", base_url="https://models.invalid/v1")
    template = create_template(
        project=project,
        method="rts",
        name="T",
        text="{{ dimension }} {{ document }} {{ text }} {{ answer }}",
        pattern="",
        by=None,
    )
    judge = Judge.objects.create(
        project=project, name="J", model="m", method="rts", endpoint=endpoint, template=template
    )
    plan_run(project=project, scope=Scope(judges=[judge], dimensions=dimensions), by=admin)


def import_metrics() -> None:
    """Import five metrics of each item."""
    bring(
        [
            {"document_id": document, "system": system}
            | {f"metric{number}": chance.random() for number in range(5)}
            for document, system in units
        ],
        kind=METRICS,
    )


def to_be_routed() -> None:
    """Import items and two judges into another project."""
    items(others["routed"])
    judgments(others["routed"], ("rts", "mcq"))


def follow_policy() -> None:
    judges = {each.method: each for each in Judge.objects.filter(project=others["routed"])}
    spec = PolicySpec(name="R", rts=judges["rts"], mcq=judges["mcq"], threshold=0.5, raters=len(RATERS))
    route(policy=make_policy(project=others["routed"], spec=spec, by=admin), by=admin)


def open_by_plan() -> None:
    """Open Round I where a plan says who rates which items."""
    planned = others["planned"]
    for number in range(6):
        user = User.objects.create_user(f"planned{number}@example.org")
        add_member(project=planned, role=Role.ANNOTATOR, user=user)
    choose_plan(project=planned, kind=AssignmentPlan.Kind.EVERYONE)
    open_round_one(project=planned, by=admin)


others = {
    name: create_project(user=admin, name=name, template=TEMPLATES["opinion-summaries"])
    for name in ("routed", "planned", "undone")
}
brought: list[DataImport] = []

JOBS: dict[str, Callable[[], object]] = {
    "import items": items,
    "open Round I": lambda: open_round_one(project=project, by=admin),
    "import ratings": ratings,
    "close Round I": lambda: close_round_one(project=project, by=admin),
    "open Round II": lambda: open_round_two(project=project, by=admin),
    "import ratings of Round II": answers,
    "close Round II": lambda: close_round_two(project=project, by=admin),
    "import judgments": judgments,
    "export": export,
    "compute results": results,
    "plan a run": plan,
    "import metrics": import_metrics,
    "compute metrics": lambda: compute_metrics(project=project, measures=[MEASURES["words"]]),
    "load the demonstration": load_demonstration,
    "import for routing": to_be_routed,
    "route": follow_policy,
    "import for a plan": lambda: items(others["planned"]),
    "open Round I by a plan": open_by_plan,
    "import to be undone": lambda: brought.append(items(others["undone"])),
    "undo an import": lambda: undo_import(data_import=brought[0], by=admin),
    "delete a project": lambda: delete_project(project=project, name=project.name, by=admin),
}

if __name__ == "__main__":
    print(json.dumps(list(JOBS)), flush=True)
    for name, job in JOBS.items():
        sys.stdin.readline()
        job()
        print(name, flush=True)
