"""The time of a page of items with every filter and order, in a project of 100,000 items.

python benchmarks/items.py [--items 100000]

Makes a database of its own as benchmarks/export.py does: ten systems, three raters of each item, half of them
done, every third item disputed, every fifth tagged. A page is asked for as a browser does, signed in.
"""

import argparse
import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import own_database
from benchmarks.stopping import clean_up_when_stopped

AIM = 0.3  # seconds
SYSTEMS = 10
RATERS = 3
ASKED = (
    "",
    "page=2000",
    "words=number 77",
    "document=document-500",
    "state=waiting",
    "state=complete",
    "state=unasked",
    "raters=1",
    "raters=4",
    "apart=2",
    "apart=9",
    "tag=checked",
    "marked=disputed&marked=open",
    "marked=routed",
    "marked=judged",
    "marked=unjudged",
    "order=newest",
    "order=document",
    "order=fewest",
    "order=apart",
    "order=apart&page=500",
    "state=complete&tag=checked&marked=disputed&order=apart",
)


def fill(items: int) -> str:
    from annotate.core.guideline import DimensionSpec
    from annotate.core.guidelines import current_guideline
    from annotate.core.models import (
        Assignment,
        Dispute,
        Document,
        Guideline,
        Item,
        ItemTag,
        Role,
        Round,
        System,
        User,
    )
    from annotate.people.commands import add_member
    from annotate.setup.commands import add_dimension, create_project

    admin = User.objects.create_user("admin@example.org", "a password")
    project = create_project(user=admin, name="Many items")
    dimension = add_dimension(project=project, dimension=DimensionSpec("Fluency", "How it reads."))
    raters = [add_member(project=project, role=Role.ANNOTATOR, label=f"A{n}") for n in range(RATERS)]
    systems = [System.objects.create(project=project, name=f"system {n}") for n in range(SYSTEMS)]
    documents = Document.objects.bulk_create(
        (
            Document(project=project, key=f"document-{n}", title=f"Document {n}", parts=[], digest=str(n))
            for n in range(items // SYSTEMS)
        ),
        5000,
    )
    made = Item.objects.bulk_create(
        (
            Item(document=document, system=system, text=f"Text number {n} of {system}. " * 12, digest=str(n))
            for n, document in enumerate(documents)
            for system in systems
        ),
        5000,
    )
    guideline = Guideline.objects.create(
        project=project, version=1, content=current_guideline(project).to_json(), digest="0"
    )
    round = Round.objects.create(
        project=project, number=1, guideline=guideline, seed=1, opened_at=NOW, opened_by=admin
    )
    Assignment.objects.bulk_create(
        (
            Assignment(
                round=round,
                item=item,
                slot=slot,
                annotator=rater if n % 10 else None,
                position=n + 1 if n % 10 else None,
                plan=Assignment.Plan.N_OF_M,
                seed=1,
                inclusion_probability=1.0,
                started_at=NOW if n % 10 and n % 2 else None,
                completed_at=NOW if n % 10 and n % 2 else None,
            )
            for n, item in enumerate(made)
            if n % 50
            for slot, rater in enumerate(raters)
        ),
        5000,
    )
    Dispute.objects.bulk_create(
        (
            Dispute(
                round=round,
                item=item,
                dimension=dimension,
                number=n + 1,
                spread=2 + n % 3,
                threshold=2,
                tolerance=1,
                status=Dispute.Status.SETTLED if n % 30 else Dispute.Status.OPEN,
                updated_at=NOW,
                active_at=NOW,
            )
            for n, item in enumerate(made)
            if n % 3 == 0
        ),
        5000,
    )
    tags = (ItemTag(item=item, name="checked") for n, item in enumerate(made) if n % 5 == 0)
    ItemTag.objects.bulk_create(tags, 5000)
    Round.objects.update(status=Round.Status.CLOSED, closed_at=NOW)
    return project.slug


NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def measure(items: int) -> bool:
    """Ask for every page three times; print the quickest of each; return whether all are within the aim."""
    import django

    django.setup()

    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client

    from annotate.core.models import User

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    call_command("migrate", verbosity=0)
    slug = fill(items)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    client = Client()
    client.force_login(User.objects.get())
    client.get(f"/projects/{slug}/items/")
    met = True
    for query in ASKED:
        seconds = min(_seconds(client, f"/projects/{slug}/items/?{query}") for _ in range(3))
        met = met and seconds <= AIM
        print(
            f"{query or 'all':<60}{seconds * 1000:>7,.0f} ms{'' if seconds <= AIM else '  over'}", flush=True
        )
    return met


def _seconds(client: object, address: str) -> float:
    begun = time.perf_counter()
    answer = client.get(address)  # type: ignore[attr-defined]
    assert answer.status_code == 200, answer.status_code
    return time.perf_counter() - begun


def main() -> None:
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    items = parser.parse_args().items
    with tempfile.TemporaryDirectory() as folder, own_database(Path(folder)) as environment:
        os.environ.clear()
        os.environ.update(environment)
        sys.exit(not measure(items))


if __name__ == "__main__":
    main()
