"""News summaries of the reference data in the product, all of them or a few."""

import gzip
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from django.core.management import call_command

from annotate.core.models import Document, Item, Project, System, User, text_digest
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from tests.factories import make_user
from tests.reference import reference_data

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")


@cache
def lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(folder() / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def folder() -> Path:
    return reference_data() / "news_summeval"


def news_project(*, documents: int, systems: int = 12, user: User | None = None) -> Project:
    """Make a project with the first documents and systems."""
    project = create_project(user=user or make_user(), name="News", template=TEMPLATES["news-summaries"])
    first = list(dict.fromkeys(line["system"] for line in lines("summaries.jsonl.gz")))[:systems]
    make_items(project, documents=documents, systems=first)
    return project


def make_items(project: Project, *, documents: int, systems: Sequence[str]) -> list[Item]:
    """Add the first documents and what these systems made of them."""
    made: dict[str, Document] = {}
    for line in lines("documents.jsonl.gz"):
        if len(made) == documents:
            break
        parts = [{"label": "", "text": line["source"]}]
        made[line["id"]] = Document.objects.create(
            project=project, key=line["id"], parts=parts, digest=text_digest(parts)
        )
    names = {name: System.objects.create(project=project, name=name) for name in systems}
    items = []
    for line in lines("summaries.jsonl.gz"):
        if line["id"] in made and line["system"] in names:
            items.append(
                Item(
                    document=made[line["id"]],
                    system=names[line["system"]],
                    text=line["summary"],
                    digest=text_digest(line["summary"]),
                )
            )
    return Item.objects.bulk_create(items)


def imported_news(user: User) -> Project:
    """Make a project and import all documents, summaries and experts' ratings as released."""
    project = create_project(user=user, name="News", template=TEMPLATES["news-summaries"])
    for command, name in (
        ("import_items", "documents.jsonl.gz"),
        ("import_items", "summaries.jsonl.gz"),
        ("import_ratings", "summaries.jsonl.gz"),
    ):
        call_command(command, project.slug, str(folder() / name), verbosity=0)
    return project
