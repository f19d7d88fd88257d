"""Makes a project for each kind of question with an open Round I, for benchmarks/question_effort.py."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import transaction  # noqa: E402

from annotate.core.guideline import DimensionSpec, PointSpec  # noqa: E402
from annotate.core.models import Item, Project, Role, User  # noqa: E402
from annotate.material.commands.comparisons import draw_comparisons  # noqa: E402
from annotate.material.commands.parts import import_parts  # noqa: E402
from annotate.people.commands import add_member  # noqa: E402
from annotate.rating.commands.assignments import acknowledge_wording  # noqa: E402
from annotate.rating.commands.rounds import open_round_one  # noqa: E402
from annotate.setup.commands import add_dimension, create_project  # noqa: E402
from benchmarks.annotators_fill import session_of  # noqa: E402
from benchmarks.export_fill import add_items  # noqa: E402
from concord.management.commands.start import collect_static_files  # noqa: E402

NAMES = [{"name": name} for name in ("Grammar", "Spelling", "Wrong word", "Repetition", "Style")]
QUESTIONS = {
    "scale": DimensionSpec("Quality", "How good the text is."),
    "category": DimensionSpec(
        "Tone",
        "Which tone the text has.",
        scale_maximum=3,
        measurement_level="nominal",
        points=(PointSpec(1, "Praise"), PointSpec(2, "Blame"), PointSpec(3, "Neither")),
    ),
    "labels": DimensionSpec("Errors", "Which errors the text has.", kind="labels", options={"labels": NAMES}),
    "parts": DimensionSpec(
        "Support",
        "Whether the document supports the sentence.",
        kind="parts",
        options={"labels": [{"name": "Yes"}, {"name": "No"}]},
    ),
    "preference": DimensionSpec("Better", "Which output is better.", kind="preference"),
    "ranking": DimensionSpec("Order", "In which order you would choose them.", kind="ranking"),
    "spans": DimensionSpec(
        "Mistakes",
        "Mark every mistake.",
        kind="spans",
        options={
            "categories": [{"name": "Accuracy"}, {"name": "Fluency"}],
            "severities": [{"name": "minor", "weight": 1}, {"name": "major", "weight": 5}],
        },
    ),
    "text": DimensionSpec("Critique", "What you would change.", kind="text"),
}


def make_project(kind: str, items: int, people: int) -> dict[str, object]:
    admin = User.objects.create_user(f"admin-{kind}@example.org")
    project = create_project(user=admin, name=f"Effort {kind}")
    add_dimension(project=project, dimension=QUESTIONS[kind])
    add_items(project, items)
    if kind in ("preference", "ranking"):
        draw_comparisons(project=project, size=2 if kind == "preference" else 3, per_document=1)
    if kind == "parts":
        outputs = Item.objects.filter(document__project=project)
        parts = {
            (document, system): [" ".join(text.split()[start : start + 15]) for start in range(0, 60, 15)]
            for document, system, text in outputs.values_list("document__key", "system__name", "text")
        }
        import_parts(project=project, parts=parts)
    users = [User.objects.create_user(f"{kind}-{n}@example.org") for n in range(people)]
    members = [add_member(project=project, role=Role.ANNOTATOR, user=user) for user in users]
    Project.objects.filter(pk=project.pk).update(raters_per_item=people)
    project.refresh_from_db()
    open_round_one(project=project, by=admin)
    for member, user in zip(members, users, strict=True):  # the first visit leads to the guidelines
        acknowledge_wording(annotator=member, version=1, by=user)
    return {"slug": project.slug, "sessions": [session_of(user) for user in users]}


def main() -> None:
    people, items = int(sys.argv[1]), int(sys.argv[2])
    call_command("migrate", verbosity=0)
    collect_static_files()
    with transaction.atomic():
        print(json.dumps({kind: make_project(kind, items, people) for kind in QUESTIONS}))


if __name__ == "__main__":
    main()
