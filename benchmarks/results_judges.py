"""The time of computing Judges and people for three judges on 4,800 units, and of its page from what is kept.

python benchmarks/results_judges.py [--units 4800]

Makes a database of its own as benchmarks/results.py does, with the same yardstick: alpha of every dimension
by the package krippendorff. Each judge has a value for each unit, some points beside the text's quality.
"""

import argparse
import random
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.results import alphas, line, run_on_own_database, timed, usual
from benchmarks.stopping import clean_up_when_stopped

if TYPE_CHECKING:
    from annotate.core.models import Project

AIM = 2.0  # seconds for computing
METHODS = ("rts", "mcq", "stars")
RATERS = 3
FARTHEST = {"rts": 1, "mcq": 1, "stars": 2}  # points beside the text's quality


def add_judges(project: "Project") -> None:
    from annotate.core.models import Item
    from judges.core.models import Endpoint, Judge, Judgment, PromptTemplate

    endpoint = Endpoint.objects.create(project=project, name="none", base_url="http://127.0.0.1:9/v1")
    dimensions, chance = list(project.dimensions.all()), random.Random(1)
    items = list(Item.objects.filter(document__project=project).values_list("pk", flat=True))
    for method in METHODS:
        template = PromptTemplate.objects.create(
            project=project, method=method, name=method, version=1, text="{{ text }}"
        )
        judge = Judge.objects.create(
            project=project, endpoint=endpoint, template=template, method=method, name=method, model="m"
        )
        far = FARTHEST[method]
        Judgment.objects.bulk_create(
            (
                Judgment(
                    judge=judge,
                    item_id=item,
                    dimension=dimension,
                    value=min(max(item * 7907 % 101 % 5 + 1 + chance.randint(-far, far), 1), 5),
                    status=Judgment.Status.DONE,
                )
                for item in items
                for dimension in dimensions
            ),
            2_000,
        )


def measure() -> bool:
    """Add judges, compute and show their page; print the times; return whether the aim is met."""
    import django

    django.setup()

    import scipy.stats  # noqa: F401  loaded once by each worker, not at each computation
    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    from annotate.core.models import Project, User
    from annotate.results.commands import compute_page
    from annotate.results.registry import PAGES, result_of

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    project, reader = Project.objects.get(), Client()
    add_judges(project)
    reader.force_login(User.objects.get(email="admin@example.org"))
    yardstick = usual(partial(alphas, project))
    print(f"{'':<34}{'seconds':>9}{'of yardstick':>14}")
    line("yardstick: alphas alone", yardstick, yardstick)
    result = result_of(project, PAGES["judges"])
    computing = min(timed(partial(compute_page, project=project, result=result)) for _ in range(3))
    line("judges: computing", computing, yardstick)
    address = reverse("results_page", args=[project.slug, "judges"])
    line("judges: page from what is kept", usual(partial(reader.get, address)), yardstick)
    return computing <= AIM


def main() -> None:
    """Fill, compute, show; fail where computing takes longer than the aim."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--units", type=int, default=4_800, help="how many units are rated")
    ratings = parser.parse_args().units * RATERS
    run_on_own_database(measure, ratings=ratings, too_slow=f"Computing takes more than {AIM} s.")


if __name__ == "__main__":
    main()
