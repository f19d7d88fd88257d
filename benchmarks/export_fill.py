"""Fills a new database with one project for benchmarks/export.py: export_fill.py RATINGS [open].

With Round II open, or, where it says so, with Round I open to its last rating.
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import F  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotate.core.models import (  # noqa: E402
    Assignment,
    Dispute,
    DisputeLook,
    Document,
    Item,
    Post,
    Project,
    Role,
    Round,
    System,
    User,
    text_digest,
)
from annotate.people.commands import add_member  # noqa: E402
from annotate.rating.commands.rounds import close_round_one, open_round_one, open_round_two  # noqa: E402
from annotate.setup.commands import create_project  # noqa: E402
from annotate.setup.presets import TEMPLATES  # noqa: E402

RATERS, DIMENSIONS, SYSTEMS = 3, 7, 13  # as SummEval-OP
BATCH = 5000
chance = random.Random(20_261_121)
VOCABULARY = ["".join(chance.choices("abcdefghij", k=chance.randint(2, 9))) for _ in range(5000)]


def words(count: int) -> str:
    return " ".join(chance.choices(VOCABULARY, k=count))


def items_needed(ratings: int) -> int:
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
    parts = [{"label": f"Review {n}", "text": words(60)} for n in range(1, 9)]
    return Document(project=project, key=f"product-{number}", parts=parts, digest=text_digest(parts))


def new_item(document: Document, system: System) -> Item:
    text = words(60)
    return Item(document=document, system=system, text=text, digest=text_digest(text))


def rate(round: Round, annotators: list[int], ratings: int) -> None:
    """Take every place, and give ratings, each with its history, all of them in the database itself."""
    now = timezone.now()
    for slot, annotator in enumerate(annotators):
        assignments = Assignment.objects.filter(round=round, slot=slot)
        assignments.update(annotator=annotator, position=F("pk"), started_at=now, completed_at=now)
    at = connection.ops.adapt_datetimefield_value(now)
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE given (number integer, aside integer, comment text, seconds real)"
        )
        cursor.executemany("INSERT INTO given VALUES (%s, %s, %s, %s)", list(answers()))
        cursor.execute(RATINGS, {"answers": ANSWERS, "at": at, "round": round.pk, "ratings": ratings})
        cursor.execute(HISTORY)


def answers() -> Iterator[tuple[int, int, str, float]]:
    """Answers that are given in turn: how far beside the item's quality, every fifth with a comment."""
    for number in range(ANSWERS):
        comment = words(8) if chance.random() < 0.2 else ""
        yield number, chance.choice((-1, 0, 1)), comment, chance.uniform(2, 40)


ANSWERS = 9973
RATINGS = """
    INSERT INTO annotate_rating (assignment_id, dimension_id, value, unsure, cannot_rate, not_applicable,
                                 comment, active_seconds, revision, client, sequence, created_at, updated_at)
    SELECT place, dimension, CASE WHEN quality + aside < 1 THEN 1 WHEN quality + aside > 5 THEN 5
                                  ELSE quality + aside END,
           false, false, false, comment, seconds, 1, '', 0, %(at)s, %(at)s
    FROM (SELECT place.id AS place, dimension.id AS dimension,
                 place.item_id * 7907 %% 101 %% 5 + 1 AS quality,
                 (place.id * 31 + dimension.id * 17) %% %(answers)s AS number
          FROM annotate_assignment place CROSS JOIN annotate_dimension dimension
          WHERE place.round_id = %(round)s
          ORDER BY place.id, dimension.id
          LIMIT %(ratings)s) asked
    JOIN given ON given.number = asked.number
    ORDER BY place, dimension
"""
HISTORY = """
    INSERT INTO annotate_ratingchange (rating_id, revision, at, cause, value_after, unsure, cannot_rate,
                                       not_applicable, comment, short_reason)
    SELECT id, 1, created_at, 'rated', value, false, false, false, comment, ''
    FROM annotate_rating ORDER BY id
"""


def discuss(project: Project, author: int) -> None:
    open_round_two(project=project, by=None)
    now = timezone.now()
    disputes = Dispute.objects.filter(round__project=project).iterator(BATCH)
    Post.objects.bulk_create(
        (Post(dispute=dispute, author_id=author, text=words(20), at=now) for dispute in disputes), BATCH
    )
    # As posting does, and looking at the page on which one posts.
    Dispute.objects.filter(round__project=project).update(active_at=now)
    looks = Dispute.objects.filter(round__project=project).iterator(BATCH)
    DisputeLook.objects.bulk_create(
        (DisputeLook(dispute=dispute, rater_id=author, at=now) for dispute in looks), BATCH
    )


def main() -> None:
    ratings, begun = int(sys.argv[1]), time.perf_counter()
    call_command("migrate", verbosity=0)
    if Project.objects.exists():
        print("The project is there already.")
        return
    with transaction.atomic():
        admin = User.objects.create_user("admin@example.org")
        project = create_project(user=admin, name="Benchmark", template=TEMPLATES["opinion-summaries"])
        add_items(project, items_needed(ratings))
        annotators = [
            add_member(project=project, role=Role.ANNOTATOR, label=f"{n}").pk for n in range(RATERS)
        ]
        rate(open_round_one(project=project, by=admin), annotators, ratings)
        if "open" not in sys.argv:
            close_round_one(project=project, by=admin)
        if Dispute.objects.exists():
            discuss(project, annotators[0])
    with connection.cursor() as cursor:
        # As PostgreSQL's autovacuum does, which some installations for tests leave out.
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")
    told = {
        "seconds": time.perf_counter() - begun,
        "items": Item.objects.count(),
        "disputes": Dispute.objects.count(),
        "database": connection.display_name,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
