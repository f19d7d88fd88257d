"""How fast does the preview of a routing policy answer while r is moved, over 100,000 units?

python benchmarks/routing_preview.py

A new SQLite database with 20 systems' texts for 1,250 documents on 4 dimensions and two judges with a value
for each. Asks the page as a browser does while the slider moves: the first time, and with other r.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from annotate.core.models import Project
    from judges.core.models import Judge

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.stopping import clean_up_when_stopped

DOCUMENTS, SYSTEMS, MOVES = 1_250, 20, 12


def main() -> None:
    clean_up_when_stopped()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DATABASE_URL"] = f"sqlite:///{folder}/preview.sqlite3"
        os.environ["CONCORD_DATA"] = folder
        os.environ["DJANGO_SETTINGS_MODULE"] = "concord.settings"
        import django

        django.setup()
        measure()


def measure() -> None:
    from django.core.management import call_command
    from django.test import Client

    from annotate.core.models import User

    call_command("migrate", verbosity=0)
    project, rts, mcq = filled()
    client = Client(HTTP_HOST="localhost", HTTP_HX_REQUEST="true")
    client.force_login(User.objects.get())
    fields = {
        "name": "First",
        "rts": rts.pk,
        "mcq": mcq.pk,
        "decided_by": "lower_bound",
        "audit": "random",
        "audit_share": 0.05,
        "audit_least": 0,
        "raters": 3,
        "coefficient": "spearman",
        "confidence_level": 0.95,
        "risk": 0.2,
        "show": "preview",
    }
    taken = []
    for move in range(MOVES):
        begun, worked = time.perf_counter(), time.process_time()
        response = client.post(
            f"/projects/{project.slug}/judges/routing/new/",
            {**fields, "threshold": round(0.3 + 0.02 * move, 2)},
        )
        taken.append((time.perf_counter() - begun, time.process_time() - worked))
        assert b"go to people" in response.content, response.content[:500]
    for name, seconds in zip(("elapsed", "of one core"), zip(*taken, strict=True), strict=True):
        moved = statistics.median(seconds[1:])
        print(
            f"{DOCUMENTS * SYSTEMS * 4:,} units, 2 judges, seconds {name}: first preview {seconds[0]:.2f}, "
            f"with another r {moved:.2f} (median of {MOVES - 1})."
        )


def filled() -> "tuple[Project, Judge, Judge]":
    from annotate.core.models import Document, Item, System, User
    from annotate.setup.commands import create_project
    from annotate.setup.presets import TEMPLATES
    from judges.core.models import Endpoint, Judge, Judgment, PromptTemplate

    user = User.objects.create_user("admin@example.org")
    project = create_project(user=user, name="Large", template=TEMPLATES["news-summaries"])
    endpoint = Endpoint.objects.create(project=project, name="none", base_url="http://127.0.0.1:9/v1")
    documents = Document.objects.bulk_create(
        Document(project=project, key=str(number), parts=[{"label": "", "text": "-"}], digest=str(number))
        for number in range(DOCUMENTS)
    )
    systems = [System.objects.create(project=project, name=f"S{number}") for number in range(SYSTEMS)]
    items = Item.objects.bulk_create(
        Item(document=document, system=system, text="-", digest=f"{document.pk}/{system.pk}")
        for document in documents
        for system in systems
    )
    chance = random.Random(1)
    judges = []
    for method in ("rts", "mcq"):
        template = PromptTemplate.objects.create(
            project=project, method=method, name=method, version=1, text="{{ text }}"
        )
        judges.append(
            Judge.objects.create(
                project=project, endpoint=endpoint, template=template, method=method, name=method, model="m"
            )
        )
    dimensions = list(project.dimensions.all())
    values: dict[tuple[int, int], int] = {}
    for judge in judges:
        rows = []
        for number, item in enumerate(items):
            for dimension in dimensions:
                unit = item.pk, dimension.pk
                same = chance.random() < (number % SYSTEMS) / SYSTEMS
                values[unit] = values[unit] if same and unit in values else chance.randint(1, 5)
                rows.append(
                    Judgment(judge=judge, item=item, dimension=dimension, value=values[unit], status="done")
                )
        Judgment.objects.bulk_create(rows, 2_000)
    return project, judges[0], judges[1]


if __name__ == "__main__":
    main()
