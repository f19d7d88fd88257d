"""The client for Python against a live server, and against one that fails."""

import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Item, User
from concord_client import Project, RefusedError, models, server
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge
from tests.rating.rounds import discussed
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast() -> Cast:
    return make_project(documents=2)


@pytest.fixture
def project(cast: Cast, live_server: LiveServer) -> Iterator[Project]:
    with client_of(cast.admin, live_server, cast.project.slug) as project:
        yield project


def client_of(user: User | None, live_server: LiveServer, slug: str) -> Project:
    return Project(live_server.url, ApiClient(user).secret, slug)


def test_ratings_and_results_are_frames(cast: Cast, project: Project) -> None:
    discussed(cast, 1, 3, 5)
    ratings = project.ratings(round=1)
    assert sorted(ratings["value"]) == [1, 3, 5]
    assert len(project.items()) == len(cast.items)
    call_command("results", cast.project.slug, "agreement", stdout=StringIO())  # as a worker computes it
    agreement = project.agreement()
    for row, (_, found) in zip(
        cells_of(cast.project, "agreement", "rounds"), agreement.iterrows(), strict=True
    ):
        alpha = row["round_1_alpha"]
        assert found["dimension"] == row["dimension"].key
        assert found["round_1_alpha"] == alpha.value or (
            pd.isna(found["round_1_alpha"]) and alpha.value is None
        )


def test_types_are_generated_from_the_description(tmp_path: Path) -> None:
    """They are as `make openapi` writes them."""
    made = tmp_path / "models.py"
    root = Path(__file__).resolve().parents[2]
    generate = [sys.executable, "-m", "datamodel_code_generator", "--output", str(made)]
    subprocess.run(generate, cwd=root, check=True, capture_output=True)
    assert made.read_text() == Path(str(models.__file__)).read_text()


def test_answers_have_the_fields_of_their_types(cast: Cast, project: Project) -> None:
    discussed(cast, 1, 3, 5)
    make_judge(cast.project)
    assert project.about().keys() == models.ProjectRow.__annotations__.keys()
    for frame, row in (
        (project.ratings(), models.RatingRow),
        (project.items(), models.ItemRow),
        (project.dimensions(), models.DimensionRow),
        (project.judges(), models.JudgeRow),
    ):
        assert set(frame.columns) == row.__annotations__.keys()


def test_material_is_imported_once_and_refusals_are_sentences(cast: Cast, project: Project) -> None:
    documents = pd.DataFrame({"document": ["d7"], "Review": ["Good boots."], "Other": [None]})
    items = pd.DataFrame({"document": ["d7"], "system": ["s7"], "text": ["Fine."], "more": [1]})
    assert project.import_documents(documents) == {"sent": 1, "made": 1}
    assert project.import_items(items) == {"sent": 1, "made": 1}
    assert project.import_items(items) == {"sent": 1, "made": 0}
    assert Item.objects.get(system__name="s7").text == "Fine."
    with pytest.raises(RefusedError, match="d8") as refused:
        project.import_items(items.assign(document="d8"))
    assert refused.value.code
    with pytest.raises(RefusedError, match="has no judge 'x'; it has none"):
        project.run_judge("x")


def test_a_run_is_planned_and_started(cast: Cast, project: Project) -> None:
    judge = make_judge(cast.project)
    found = project.run_judge(judge.name, documents=1, wait=False)
    assert found["run"]["status"] == "running"
    assert found["total"] == len(cast.items) // 2 * len(cast.dimensions)


def test_others_projects_are_not_there(cast: Cast, live_server: LiveServer) -> None:
    stranger = client_of(make_project().admin, live_server, cast.project.slug)
    with stranger, pytest.raises(RefusedError):
        stranger.about()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    made: list[float] = []
    monkeypatch.setattr(server, "sleep", made.append)
    return made


def answering(*answers: Any) -> tuple[Project, list[httpx2.Request]]:
    """Return a project whose server gives these answers, and the requests that came."""
    left: Iterator[Any] = iter(answers)
    came: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        came.append(request)
        given: httpx2.Response | Exception = next(left)
        if isinstance(given, Exception):
            raise given
        return given

    return Project("http://concord", "t", "p", transport=httpx2.MockTransport(answer)), came


def test_a_write_without_an_answer_is_sent_again_under_the_same_key(pauses: list[float]) -> None:
    made = {"made": {"items": 1}, "already_there": {"items": 0}}
    project, came = answering(httpx2.ReadError("gone"), httpx2.Response(201, json=made))
    items = pd.DataFrame({"document": ["d"], "system": ["s"], "text": ["t"]})
    assert project.import_items(items)["made"] == 1
    assert len({request.headers["Idempotency-Key"] for request in came}) == 1
    assert pauses == [0.5]


def test_it_waits_as_long_as_it_is_told_to(pauses: list[float]) -> None:
    project, _ = answering(
        httpx2.Response(429, headers={"Retry-After": "7"}), httpx2.Response(200, json={"name": "P"})
    )
    assert project.about()["name"] == "P"
    assert pauses == [7]


def test_a_server_that_is_no_concord_is_named(pauses: list[float]) -> None:
    project, _ = answering(httpx2.Response(502, text="Bad gateway"))
    with pytest.raises(RefusedError, match="answers 502 Bad Gateway"):
        project.about()
    project, _ = answering(*[httpx2.ConnectError("refused")] * 5)
    with pytest.raises(RefusedError, match="does not answer: refused"):
        project.about()
