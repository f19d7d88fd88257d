"""Judgments that a worker leases before it can call for them."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from judges.core.models import Endpoint, Judgment, Run
from judges.endpoints.work import Outcome
from judges.runs.commands.leases import Leased, lease
from judges.runs.commands.outcomes import store
from judges.runs.pipeline import MOST_AHEAD
from judges.runs.queries.runs import run_progress
from tests.factories import make_user
from tests.judges.factories import make_endpoint, make_judge, unpriced
from tests.judges.news import DIMENSIONS, news_project
from tests.judges.running import running

pytestmark = pytest.mark.django_db
CALLS = 2


def lease_ahead(method: str = "rts", /, **endpoint: Any) -> tuple[Run, Endpoint, UUID, Leased]:
    project, holder = news_project(documents=1, systems=6, user=make_user()), uuid4()
    server = make_endpoint(project, calls_in_flight=CALLS, **endpoint)
    run = running(project, make_judge(project, method, endpoint=server))
    how_many = CALLS + MOST_AHEAD * CALLS
    return run, server, holder, lease(run=run.pk, endpoint=server.pk, holder=holder, how_many=how_many)


def test_only_active_calls_count_as_in_flight() -> None:
    run, _, _, leased = lease_ahead()
    assert len(leased.judgments) == CALLS + MOST_AHEAD * CALLS
    progress = run_progress(run)
    assert (progress.in_flight, progress.planned, progress.total) == (CALLS, 22, 24)


def test_a_call_about_several_dimensions_has_all_of_them_in_flight() -> None:
    run, _, _, _ = lease_ahead("several")
    assert run_progress(run).in_flight == CALLS * len(DIMENSIONS)


@pytest.mark.parametrize(("limit", "counted"), [({}, 0), ({"tokens_per_minute": 10_000}, 120)])
def test_tokens_are_tallied_if_an_endpoint_limits_them(limit: dict[str, int], counted: int) -> None:
    run, server, holder, leased = lease_ahead(**limit)
    assert leased.counts_tokens == bool(limit)
    outcome = Outcome(
        leased.judgments[0], Judgment.Status.DONE, 1, value=4, input_tokens=100, output_tokens=20
    )
    store(
        run=run.pk,
        endpoint=server.pk,
        holder=holder,
        outcomes=[outcome],
        prices_of=unpriced,
        counts_tokens=leased.counts_tokens,
    )
    server.refresh_from_db()
    assert server.window_tokens == counted
