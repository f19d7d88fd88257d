"""Fills a new database with one project for benchmarks/export.py: export_fill.py RATINGS."""

import json
import random
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import F  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotate.commands.people import add_member  # noqa: E402
from annotate.commands.projects import create_project  # noqa: E402
from annotate.commands.rounds import close_round_one, open_round_one, open_round_two  # noqa: E402
from annotate.models import (  # noqa: E402
    Assignment,
    Dispute,
    Document,
    Item,
    Post,
    Project,
    Rating,
    RatingChange,
    Role,
    Round,
    System,
    User,
    text_digest,
)
from annotate.presets import TEMPLATES  # noqa: E402

RATERS, DIMENSIONS, SYSTEMS = 3, 7, 13  # as SummEval-OP
BATCH = 5000
chance = random.Random(20_261_121)


def words(count: int) -> str:
    """So many made-up words."""
    return " ".join("".join(chance.choices("abcdefghij", k=chance.randint(2, 9))) for _ in range(count))


def items_needed(ratings: int) -> int:
    """Enough items for so many ratings."""
    return -(-ratings // (RATERS * DIMENSIONS))


def add_items(project: Project, items: int) -> None:
    """Documents of eight reviews, and texts of 13 systems about each."""
    systems = System.objects.bulk_create(System(project=project, name=f"system-{n}") for n in range(SYSTEMS))
    documents = Document.objects.bulk_create(
        (new_document(project, number) for number in range(-(-items // SYSTEMS))), BATCH
    )
    pairs = islice(product(documents, systems), items)
    Item.objects.bulk_create((new_item(document, system) for document, system in pairs), BATCH)


def new_document(project: Project, number: int) -> Document:
    """Eight reviews of 60 words."""
    parts = [{"label": f"Review {n}", "text": words(60)} for n in range(1, 9)]
    return Document(project=project, key=f"product-{number}", parts=parts, digest=text_digest(parts))


def new_item(document: Document, system: System) -> Item:
    """A text of 60 words."""
    text = words(60)
    return Item(document=document, system=system, text=text, digest=text_digest(text))


def rate(project: Project, round: Round, annotators: list[int], ratings: int) -> None:
    """Take every place, and give ratings, each with its history."""
    now = timezone.now()
    for slot, annotator in enumerate(annotators):
        places = Assignment.objects.filter(round=round, slot=slot)
        places.update(annotator=annotator, position=F("pk"), started_at=now, completed_at=now)
    made = islice(new_ratings(project, round), ratings)
    for batch in iter(lambda: list(islice(made, BATCH)), []):
        keep_history(Rating.objects.bulk_create(batch))


def new_ratings(project: Project, round: Round) -> Iterator[Rating]:
    """Ratings of all places in turn: the item's quality or one point off, every fifth with a comment."""
    now, quality = timezone.now(), 3
    dimensions = list(project.dimensions.values_list("pk", flat=True))
    for place in Assignment.objects.filter(round=round).order_by("item", "slot").iterator(BATCH):
        quality = chance.randint(1, 5) if place.slot == 0 else quality
        for dimension in dimensions:
            yield Rating(
                assignment=place,
                dimension_id=dimension,
                value=min(max(quality + chance.choice((-1, 0, 1)), 1), 5),
                comment=words(8) if chance.random() < 0.2 else "",
                active_seconds=chance.uniform(2, 40),
                created_at=now,
                updated_at=now,
            )


def keep_history(ratings: Iterable[Rating]) -> None:
    """One row of history for each rating."""
    RatingChange.objects.bulk_create(
        RatingChange(
            rating=rating,
            revision=1,
            at=rating.created_at,
            cause=RatingChange.Cause.RATED,
            value_after=rating.value,
            comment=rating.comment,
        )
        for rating in ratings
    )


def discuss(project: Project, author: int) -> None:
    """Open Round II, with a post in every thread."""
    open_round_two(project=project, by=None)
    now = timezone.now()
    disputes = Dispute.objects.filter(round__project=project).iterator(BATCH)
    Post.objects.bulk_create(
        (Post(dispute=dispute, author_id=author, text=words(20), at=now) for dispute in disputes), BATCH
    )


def main() -> None:
    """Make the tables and one project in them; print what was made as JSON."""
    ratings, begun = int(sys.argv[1]), time.perf_counter()
    call_command("migrate", verbosity=0)
    with transaction.atomic():
        admin = User.objects.create_user("admin@example.org")
        project = create_project(user=admin, name="Benchmark", template=TEMPLATES["opinion-summaries"])
        add_items(project, items_needed(ratings))
        annotators = [
            add_member(project=project, role=Role.ANNOTATOR, label=f"{n}").pk for n in range(RATERS)
        ]
        rate(project, open_round_one(project=project, by=admin), annotators, ratings)
        close_round_one(project=project, by=admin)
        if Dispute.objects.exists():
            discuss(project, annotators[0])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    told = {
        "seconds": time.perf_counter() - begun,
        "items": Item.objects.count(),
        "disputes": Dispute.objects.count(),
        "database": connection.display_name,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
