"""An import and the closing of Round I at the same moment, on connections of their own."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import pytest
from django.db import connections, transaction

from annotate.core.models import Assignment, Dispute, Item, Project, Rating, Round
from annotate.material.commands.imports import import_file
from annotate.material.reading.report import ImportReport
from annotate.rating.commands.rounds import close_round_one
from tests.material.files import empty_project, item, jsonl, rating, source

pytestmark = pytest.mark.django_db(transaction=True)
LONG_ENOUGH_TO_FINISH = 0.7  # of what waits for nobody


@pytest.fixture
def elsewhere() -> Iterator[Executor]:
    """Threads, each with a connection of its own."""
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project of one item that A1 has rated with 1 in the open Round I."""
    project = empty_project(dimensions=("fluency",))
    both = source(jsonl(tmp_path, item() | rating("A1", 1), name="first.jsonl"), items=True, ratings=True)
    import_file(project=project, source=both, by=None)
    return project


def begin(pool: Executor, step: Callable[..., Any], **arguments: Any) -> Future[Any]:
    """Start a step and give it the time that it takes when nothing holds it up."""

    def on_a_connection_of_its_own() -> Any:
        try:
            return step(**arguments)
        finally:
            connections.close_all()

    begun = pool.submit(on_a_connection_of_its_own)
    wait([begun], LONG_ENOUGH_TO_FINISH)
    return begun


def test_ratings_during_the_round_close_are_measured_or_rejected(
    project: Project, tmp_path: Path, elsewhere: Executor
) -> None:
    ratings = source(jsonl(tmp_path, rating("A2", 5)), ratings=True)
    with transaction.atomic():  # as somebody does whose rating is being saved
        list(Assignment.objects.select_for_update())
        closing = begin(elsewhere, close_round_one, project=project, by=None)
        importing = begin(elsewhere, import_file, project=project, source=ratings, by=None)
    closing.result()
    report: ImportReport = importing.result()
    imported = not report.is_refused
    assert Rating.objects.filter(value=5).exists() == imported
    assert Dispute.objects.exists() == imported  # 1 and 5 differ by the threshold or more


@pytest.mark.parametrize("stage", ["writing items", "writing ratings"])
def test_a_round_does_not_close_in_the_middle_of_an_import(
    project: Project, tmp_path: Path, elsewhere: Executor, stage: str
) -> None:
    both = source(jsonl(tmp_path, item("d2") | rating("A2", 5, document_id="d2")), items=True, ratings=True)
    closings: list[Future[Round]] = []

    def close_meanwhile(now: str, _fraction: float, _lines: int = 0, _report: object = None) -> None:
        if now == stage:
            closings.append(begin(elsewhere, close_round_one, project=project, by=None))
            assert not closings[0].done()

    report = import_file(project=project, source=both, by=None, on_progress=close_meanwhile)
    assert not closings[0].result().is_open
    assert (report.is_refused, Item.objects.count(), Rating.objects.count()) == (False, 2, 2)
