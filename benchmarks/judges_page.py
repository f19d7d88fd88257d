"""The pages of one large run for benchmarks/judges.py: judges_page.py JUDGMENTS.

Plans a run of so many judgments in the filled database, writes answers to nine tenths of them as workers
would leave them, and opens its pages thrice. Prints milliseconds of the thread and of the database for each.
"""

import json
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.db import connection  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from annotate.core.models import Item, Project, User  # noqa: E402
from benchmarks.pages import Meter  # noqa: E402
from judges.core.models import Judge, Judgment, Run  # noqa: E402
from judges.core.specification import Scope  # noqa: E402
from judges.runs.commands.runs import plan_run, start_run  # noqa: E402

JUDGES = 4
ANSWER = """
    UPDATE judges_judgment SET attempts = 1, answered_at = %s, seconds = 1.2, cost = 0.0004,
        input_tokens = 1000, output_tokens = 60, cached_tokens = 512,
        messages_hash = id, reply = 'It reads well. Score: 4',
        status = CASE WHEN id %% 200 = 0 THEN 'unreadable' WHEN id %% 300 = 0 THEN 'failed' ELSE 'done' END,
        value = CASE WHEN id %% 200 = 0 OR id %% 300 = 0 THEN NULL ELSE 1 + id %% 5 END,
        reason = CASE WHEN id %% 200 = 0 OR id %% 300 = 0 THEN 'No score was found.' ELSE '' END
    WHERE run_id = %s AND id %% 10 <> 1
"""


def main() -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    project, user = Project.objects.get(), User.objects.get()
    run = Run.objects.order_by("pk").last() or fill(project, int(sys.argv[1]))
    client, meter = Client(), Meter()
    client.force_login(user)
    home = f"/projects/{project.slug}/judges/runs/"
    opened = {
        "the run": f"{home}{run.pk}/",
        "its fragment": f"{home}{run.pk}/",
        "its unreadable judgments": f"{home}{run.pk}/judgments/unreadable/",
        "the last of them": f"{home}{run.pk}/judgments/unreadable/?page=last",
        "all runs": home,
    }
    client.get(home)  # what a process does once
    pages = {}
    for name, address in opened.items():
        headers = {"HX-Request": "true"} if "fragment" in name else {}
        times = []
        for _ in range(3):
            answer, spent = meter.spent(partial(client.get, address, headers=headers))
            assert answer.status_code == 200, (address, answer.status_code)
            times.append(1000 * spent.seconds)
        pages[name] = times
    print(json.dumps({"judgments": Judgment.objects.filter(run=run).count(), "pages": pages}))


def fill(project: Project, judgments: int) -> Run:
    """Plan a run of several judges of as many samples as give the judgments; answer nine tenths of it."""
    keys = list(project.dimensions.values_list("key", flat=True))
    one = Judge.objects.select_related("endpoint", "template").get(name="once")
    samples = -(-judgments // (JUDGES * len(keys) * Item.objects.count()))
    copies = [
        Judge.objects.create(
            project=project,
            endpoint=one.endpoint,
            template=one.template,
            method=one.method,
            model=one.model,
            name=f"often {number}",
            samples=samples,
            temperature=1,
        )
        for number in range(JUDGES)
    ]
    run = start_run(run=plan_run(project=project, scope=Scope(copies, keys), by=None))
    with connection.cursor() as cursor:
        cursor.execute(ANSWER, [timezone.now(), run.pk])
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE")
    return run


if __name__ == "__main__":
    main()
