"""Judges of a run are asked in turn."""

from collections import Counter
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from annotate.core.models import Project
from judges.core.models import Judge, Judgment, Run
from judges.endpoints.work import Outcome
from judges.runs.commands.leases import lease
from judges.runs.commands.outcomes import store
from tests.judges.factories import make_endpoint, make_judge, unpriced
from tests.judges.news import news_project
from tests.judges.provider import providing
from tests.judges.running import running, worked

pytestmark = pytest.mark.django_db(transaction=True)
HOLDER = uuid4()


def two_judges(project: Project, **fields: Any) -> tuple[Judge, Judge]:
    endpoint = make_endpoint(project, **fields)
    return make_judge(project, endpoint=endpoint), make_judge(project, endpoint=endpoint)


def judges_leased(run: Run, judge: Judge, slots: int, turn: int) -> list[int]:
    """Lease for a while and let all be answered; return the judges of what was leased, in order."""
    assert judge.endpoint_id is not None
    where: dict[str, Any] = {"run": run.pk, "endpoint": judge.endpoint_id, "holder": HOLDER}
    taken = lease(how_many=slots, turn=turn, **where).judgments
    outcomes = [Outcome(each, Judgment.Status.DONE, 1, value=3) for each in taken]
    store(outcomes=outcomes, prices_of=unpriced, **where)
    of = dict(Judgment.objects.filter(pk__in=taken).values_list("pk", "judge"))
    return [of[each] for each in taken]


@pytest.mark.parametrize("slots", [1, 3, 16])
def test_after_any_number_of_answers_both_judges_have_about_half(slots):
    project = news_project(documents=4, systems=6)
    judges = two_judges(project)
    run, turn = running(project, *judges), 0
    so_far: Counter[int] = Counter()
    while leased := judges_leased(run, judges[0], slots, turn):
        so_far.update(leased)
        turn += len(leased)
        counts = [so_far[judge.pk] for judge in judges]
        assert abs(counts[0] - counts[1]) <= 1
    assert sum(so_far.values()) == 2 * 96


def test_judgments_that_one_judge_lacks_go_to_the_other():
    project = news_project(documents=4, systems=6)
    first, second = two_judges(project)
    run = running(project, first, second, dimensions=["fluency"])
    kept = list(Judgment.objects.filter(run=run, judge=first).order_by("pk").values_list("pk", flat=True)[:2])
    Judgment.objects.filter(run=run, judge=first).exclude(pk__in=kept).delete()
    assert Counter(judges_leased(run, first, 16, 0)) == {first.pk: 2, second.pk: 14}


def test_a_worker_asks_both_models_from_the_beginning_to_the_end():
    project = news_project(documents=4, systems=6)
    with providing(seconds=0.005) as provider:
        endpoint = make_endpoint(project, provider.base_url, calls_in_flight=2)
        judges = [make_judge(project, endpoint=endpoint, model=name) for name in ("one", "two")]
        run = worked(running(project, *judges, dimensions=["fluency", "coherence"]))
        asked = [each["model"] for each in provider.asked]
    assert run.status == "finished"
    assert Counter(asked) == {"one": 48, "two": 48}
    longest = max(len(same) for same in runs_of(asked))
    assert longest < 48, "not one judge after the other"
    assert Counter(asked[:48])["one"] == pytest.approx(24, abs=8)


def runs_of(models: list[str]) -> list[list[str]]:
    """Return stretches of the same model."""
    stretches = [[models[0]]]
    for before, after in pairwise(models):
        if before == after:
            stretches[-1].append(after)
        else:
            stretches.append([after])
    return stretches
