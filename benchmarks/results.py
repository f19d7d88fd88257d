"""The time of a page of results from what is kept, and of computing it, beside alpha of the same ratings.

python benchmarks/results.py [--ratings 100000]

Makes a database of its own as benchmarks/export.py does. The yardstick is alpha of every dimension by the
package krippendorff: point estimates alone, without intervals, breakdowns or a page. Round II has just been
opened: what it has not changed is computed once for both rounds.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import own_database, run_script
from benchmarks.stopping import clean_up_when_stopped

AIM = 0.15  # seconds for a page from what is kept
REPEATS = 7


def timed(act: Callable[[], object]) -> float:
    """Seconds of processor time that something takes: the same beside other work as alone."""
    begun = time.process_time()
    act()
    return time.process_time() - begun


def measure() -> bool:
    """Compute, show and draw the pages of the one project; print the times; return whether the aim is met."""
    import django

    django.setup()

    from django.conf import settings
    from django.test import Client
    from django.urls import reverse

    from annotate.core.errors import DomainError
    from annotate.core.models import Project, User
    from annotate.results.commands import compute_page
    from annotate.results.registry import PAGES, result_of, version_of

    settings.ALLOWED_HOSTS = ["testserver"]
    settings.STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    project, reader = Project.objects.get(), Client()
    reader.force_login(User.objects.get(email="admin@example.org"))
    yardstick = usual(partial(alphas, project))
    print(f"{'':<34}{'seconds':>9}{'of yardstick':>14}")
    line("yardstick: alphas alone", yardstick, yardstick)
    met = True
    for page in PAGES.values():
        try:
            result = result_of(project, page)
            computing = min(timed(partial(compute_page, project=project, result=result)) for _ in range(3))
        except DomainError:  # a page of judges, of which this project has none
            continue
        line(f"{page.name}: computing", computing, yardstick)
        line(f"{page.name}: version of the data", usual(partial(version_of, result, project)), yardstick)
        address = reverse("results_page", args=[project.slug, page.name])
        answer = reader.get(address)
        assert answer.status_code == 200
        assert b"Computing the figures" not in answer.content
        shown = usual(partial(reader.get, address))
        met = met and shown <= AIM
        line(f"{page.name}: page from what is kept", shown, yardstick)
    rate_again(project)
    agreement = result_of(project, PAGES["agreement"])
    computing = min(timed(partial(compute_page, project=project, result=agreement)) for _ in range(3))
    line("agreement: rated again in Round II", computing, yardstick)
    plot = reverse("result_file", args=[project.slug, "agreement", "alpha", "svg"])
    line("a plot, with loading matplotlib", timed(lambda: reader.get(plot)), yardstick)
    line("the plot again", usual(lambda: reader.get(plot)), yardstick)
    return met


def rate_again(project: object) -> None:
    """Let a rater of one dispute of each dimension change their value, so that none is as in Round I."""
    from annotate.core.models import Dispute, Project, Rating
    from annotate.disputes.commands.disputes import answer_dispute

    assert isinstance(project, Project)
    disputes = Dispute.objects.filter(round__project=project)
    for dimension in project.dimensions.all():
        dispute = disputes.filter(dimension=dimension).order_by("number")[0]
        given = Rating.objects.filter(assignment__item=dispute.item_id, dimension=dimension).earliest("pk")
        rater = given.assignment.annotator
        assert rater is not None
        answer_dispute(dispute=dispute, rater=rater, value=2 if given.value == 1 else 1)


def alphas(project: object) -> None:
    """Read the ratings and compute alpha of every dimension by the package krippendorff."""
    import krippendorff

    from annotate.core.models import Project
    from annotate.core.rounds import rounds_of
    from annotate.results.queries.reliability_data import reliability_data

    assert isinstance(project, Project)
    for data in reliability_data(rounds_of(project)[1]).values():
        krippendorff.alpha(
            data.values, level_of_measurement="interval", value_domain=data.value_domain.tolist()
        )


def usual(act: Callable[[], object]) -> float:
    """The least of several times: what it takes where nothing else runs."""
    return min(timed(act) for _ in range(REPEATS))


def line(what: str, seconds: float, yardstick: float) -> None:
    print(f"{what:<34}{seconds:>9.3f}{seconds / yardstick:>13.1f}x")


def run_on_own_database(measure: Callable[[], bool], *, ratings: int, too_slow: str) -> None:
    """Fill a database made for this run and measure; exit with `too_slow` where an aim is missed."""
    with (
        tempfile.TemporaryDirectory(prefix="concord-results-") as name,
        own_database(Path(name)) as environment,
    ):
        print(f"{ratings:,} ratings: {run_script('export_fill.py', environment, str(ratings))}")
        os.environ.clear()
        os.environ.update(environment)
        if not measure():
            sys.exit(too_slow)


def main() -> None:
    """Fill, compute, show; fail where a page takes longer than the aim."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ratings", type=int, default=100_000, help="how many ratings Round I has")
    ratings = parser.parse_args().ratings
    run_on_own_database(measure, ratings=ratings, too_slow=f"A kept page takes more than {AIM} s.")


if __name__ == "__main__":
    main()
