"""Nothing of a benchmark changes when an addition is made, judged, rated and closed."""

from pathlib import Path

import pytest

from annotate.additions.queries import severity_of
from annotate.core.models import Project, Round
from annotate.rating.commands.rounds import close_round_one
from annotate.results.queries.kept import sections_to
from annotate.results.registry import PAGES, result_of, version_of
from tests.additions.scenes import make_new_raters, rate_all
from tests.exports.test_importing_exports import exported
from tests.factories import Cast
from tests.judges.additions.test_route import finished_benchmark, routed

pytestmark = pytest.mark.django_db


def everything(project: Project, path: Path) -> list[object]:
    """Return the export, tables on people, and the version of every result, from which its numbers follow."""
    people = [result_of(project, name) for name in ("agreement", "systems")]
    tables = [sections_to(each.page.sections(project, each.chosen)) for each in people]
    # The leaderboard lists systems of additions, too.
    listed = [page for page in PAGES.values() if page.is_listed(project) and page.name != "leaderboard"]
    versions = [version_of(result_of(project, page), project) for page in listed]
    return [exported(project, path), tables, versions]


def test_results_and_export_of_the_benchmark_stay(tmp_path: Path) -> None:
    cast: Cast = finished_benchmark()
    before = everything(cast.project, tmp_path / "before.zip")
    addition, _ = routed(cast, documents=10)
    round = Round.objects.get(project=addition.project, number=1)
    for rater in make_new_raters(addition):
        rate_all(round, rater, lambda _, __: 3)
    assert severity_of(addition)["fluency"].offset
    close_round_one(project=addition.project, by=cast.admin)
    assert everything(cast.project, tmp_path / "after.zip") == before
