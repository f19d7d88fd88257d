"""Certificates of ChatGPT on SummEval, as the commands compute them, beside the same test over arrays."""

from collections.abc import Mapping

import pytest

from agreement.comparison import Scores
from agreement.reliability import Guarantee, calibrate, closeness, grid_of, more_than_one_point
from annotate.core.models import Assignment, Project, Role
from judges.core.models import CalibrationUnit
from tests.api.client import concord
from tests.factories import make_member, make_user
from tests.published.news_summeval import DIMENSIONS, scores

RISK, SIZE = 0.2, 300


def certificates_are_those_of_the_arrays(project: Project, judges: Mapping[str, str]) -> None:
    """Everything is rated, so nobody is asked. judges: names by method.

    Which summaries are drawn depends on their keys in the database; consistency passes with any 300.
    """
    admin = make_user()
    make_member(project, Role.ADMIN, user=admin)
    ids = dict(project.judges.values_list("name", "pk"))
    test = ("--judge", ids[judges["rts"]], "--other", ids[judges["mcq"]], "--size", SIZE, "--risk", RISK)
    before = Assignment.objects.count()
    drawn = concord(admin, "certificates", "add", project.slug, *test)["calibration"]
    assert Assignment.objects.count() == before
    computed = concord(admin, "certificates", "compute", project.slug, drawn["id"])
    found = {each["dimension"]: each["certificate"] for each in computed["dimensions"]}
    assert set(found) == set(DIMENSIONS)
    for dimension, certificate in found.items():
        rts, mcq = (scores(method, dimension) for method in ("rts", "mcq"))
        confidences = closeness(rts.judge, mcq.judge)
        losses = more_than_one_point(rts.judge, rts.human_means)
        sample = drawn_indices(project, dimension, rts)
        guarantee = Guarantee(RISK, 0.1).divide(len(DIMENSIONS))
        grid = grid_of(confidences)
        wanted = calibrate(
            confidences[sample],
            losses[sample],
            grid,
            guarantee,
            documents=rts.documents[sample],
            batch=confidences,
        )
        assert (certificate["threshold"], certificate["rated"]) == (wanted.threshold, SIZE)
        assert certificate["kept_share"] == pytest.approx(wanted.kept_share)
        p_values = [step.p_value for step in wanted.steps]
        assert [step["p_value"] for step in certificate["steps"]] == pytest.approx(p_values)
    assert found["consistency"]["threshold"] is not None


def drawn_indices(project: Project, dimension: str, rts: Scores) -> list[int]:
    """Return the places of the drawn summaries among those of the arrays."""
    texts = zip(rts.systems.tolist(), rts.documents.tolist(), strict=True)
    index_of = {
        (rts.system_names[system], str(rts.document_labels[document])): index
        for index, (system, document) in enumerate(texts)
    }
    units = CalibrationUnit.objects.filter(calibration__project=project, dimension__key=dimension)
    return [index_of[unit] for unit in units.values_list("item__system__name", "item__document__key")]
