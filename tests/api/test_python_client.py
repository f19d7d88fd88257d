"""The client for Python against a live server, and against one that fails."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest
from django.core.management import call_command
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import AuditEntry, Item, User
from concord_client import Project, RefusedError, Server, TooSlowError, models, operations, server
from judges.methods import METHODS
from tests.api.client import ApiClient
from tests.factories import Cast, make_project, make_user
from tests.judges.certified import calibrated_project, rate_all_units
from tests.judges.factories import make_judge
from tests.judges.routing.project import routing_project
from tests.rating.rounds import discussed
from tests.results.reading import cells_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast() -> Cast:
    return make_project(documents=2)


@pytest.fixture
def project(cast: Cast, live_server: LiveServer) -> Iterator[Project]:
    with server_of(cast.admin, live_server) as server:
        yield server.open_project(cast.project.slug)


def server_of(user: User | None, live_server: LiveServer) -> Server:
    return Server(live_server.url, ApiClient(user).secret)


def test_ratings_and_results_are_frames(cast: Cast, project: Project) -> None:
    discussed(cast, 1, 3, 5)
    ratings = project.read_ratings(round=1)
    assert sorted(ratings["value"]) == [1, 3, 5]
    assert len(project.read_items()) == len(cast.items)
    call_command("results", cast.project.slug, "agreement", stdout=StringIO())  # as a worker computes it
    agreement = project.read_agreement()
    for row, (_, found) in zip(
        cells_of(cast.project, "agreement", "rounds"), agreement.iterrows(), strict=True
    ):
        alpha = row["round_1_alpha"]
        assert found["dimension"] == row["dimension"].key
        assert found["round_1_alpha"] == alpha.value or (
            pd.isna(found["round_1_alpha"]) and alpha.value is None
        )


def test_times_are_times_in_rows_and_frames(cast: Cast, project: Project) -> None:
    assert str(project.read_ratings()["created_at"].dtype).startswith("datetime64")  # without rows too
    discussed(cast, 1, 3, 5)
    rated_at = project.read_ratings()["updated_at"]
    assert rated_at.max() - rated_at.min() < pd.Timedelta(hours=1)
    assert project.read_settings()["created_at"].tzinfo is not None
    deadline = datetime.now(UTC).date() + timedelta(days=9)
    assert project.set_deadline(2, deadline)["deadline"] == deadline
    assert project.server.read_account()["expires_at"] > datetime.now(UTC)


def test_client_reads_the_description_of_the_documentation() -> None:
    file = Path(__file__).resolve().parents[2] / "docs" / "api" / "openapi.json"
    assert operations.load_description() == json.loads(file.read_bytes())


def test_importing_the_client_loads_no_pandas() -> None:
    client = Path(__file__).resolve().parents[2] / "client"
    program = "import sys; import concord_client; print('pandas' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=client, check=True, capture_output=True)
    assert ran.stdout.strip() == b"False"


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
    assert project.read_settings().keys() == models.ProjectRow.__annotations__.keys()
    for frame, row in (
        (project.read_ratings(), models.RatingRow),
        (project.read_items(), models.ItemRow),
        (project.read_dimensions(), models.DimensionRow),
        (project.read_judges(), models.JudgeRow),
    ):
        assert list(frame.columns) == list(row.__annotations__)
        assert not frame.drop(columns=["comment", "evidence"], errors="ignore").empty


def test_repeated_import_adds_nothing_and_rejections_have_messages(cast: Cast, project: Project) -> None:
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
        project.start_run("x")


def test_a_run_is_planned_and_started_once(cast: Cast, project: Project) -> None:
    judge = make_judge(cast.project)
    run = project.start_run(judge.name, documents=1)
    assert (run.status, run.is_new) == ("running", True)
    assert run.detail["total"] == len(cast.items) // 2 * len(cast.dimensions)
    again = project.start_run(judge.name, documents=1)
    assert (again.id, again.is_new) == (run.id, False)
    with pytest.raises(TooSlowError, match="is running: 0 of"):
        again.wait(seconds=0)


OWN_PROMPT = METHODS["rts"].default_template.replace("Judge", "Rate", 1)


def test_equal_second_calls_change_nothing(cast: Cast, live_server: LiveServer) -> None:
    maker = make_user()
    maker.is_staff = True
    maker.save()
    points = [{"value": 1, "label": "poor"}, {"value": 5, "label": "fine"}]

    def set_up(server: Server) -> tuple[Project, list[Any]]:
        project = server.create_project("Boots", raters_per_item=2)
        return project, [
            project.read_settings(),
            project.add_dimension("Fluency", "How well it reads.", points=points),
            project.add_endpoint("Lab", "http://127.0.0.1:9/v1", input_price=0.15),
            project.add_prompt("Own", "rts", OWN_PROMPT),
            project.add_judge("J", "m"),
            project.add_judge("G", "m", prompt="g_eval"),
            project.add_judge("O", "m", prompt="Own", temperature=0.5),
            project.choose_plan("balanced"),
            project.invite("ann@example.org", "ben@example.org"),
        ]

    with server_of(maker, live_server) as server:
        project, first = set_up(server)
        acts = AuditEntry.objects.count()
        _, second = set_up(server)
        assert second == first
        assert AuditEntry.objects.count() == acts
        (_, changed, *_) = first
        assert project.add_dimension("Fluency", "Otherwise.")["points"] == changed["points"]
        assert project.add_judge("G", "other")["samples"] == 20


def test_a_judge_is_certified_and_its_units_are_routed(live_server: LiveServer) -> None:
    cast = calibrated_project()
    rate_all_units(cast)
    with server_of(cast.admin, live_server) as server:
        project = server.open_project(cast.project.slug)
        drawn = project.draw_sample("First", judge="Reasoner", other="Chooser", raters=2, size=60)
        assert project.draw_sample("First")["calibration"] == drawn["calibration"]
        certified = project.certify("First")
        assert certified["calibration"]["status"] == "certified"
        assert project.certify("First") == certified
        plan = project.plan_routing("By certificate", certificate="First", audit_least=0)
        assert project.plan_routing("By certificate")["policy"] == plan["policy"]
        with pytest.raises(RefusedError, match="no certificate 'Second'; it has First"):
            project.certify("Second")


def test_units_are_routed_by_r_once(live_server: LiveServer) -> None:
    cast = routing_project()
    with server_of(cast.admin, live_server) as server:
        project = server.open_project(cast.project.slug)
        plan = project.plan_routing("By R", rts="Reasoner", threshold=0.5, raters=1)
        routed = project.route(plan)
        assert routed["policy"]["status"] == "routed"
        assert project.route(plan)["policy"] == routed["policy"]


def test_any_operation_can_be_called_by_its_id(cast: Cast, project: Project) -> None:
    assert project.call("getPlan")["kind"] == "queue"
    assert project.call("putPlan", kind="balanced")["kind"] == "balanced"
    with pytest.raises(ValueError, match=r"similar: .*getRuns"):
        project.call("getRunss")
    with pytest.raises(TypeError, match="getRun needs id"):
        project.call("getRun")
    with pytest.raises(TypeError, match="getPlan takes no kind; it takes slug"):
        project.call("getPlan", kind="queue")


def test_others_projects_are_not_there(cast: Cast, live_server: LiveServer) -> None:
    with server_of(make_project().admin, live_server) as stranger, pytest.raises(RefusedError):
        stranger.open_project(cast.project.slug).read_settings()


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

    return Server("http://concord", "t", transport=httpx2.MockTransport(answer)).open_project("p"), came


def test_unanswered_write_is_repeated_with_the_same_key(pauses: list[float]) -> None:
    made = {"made": {"items": 1}, "already_there": {"items": 0}}
    project, came = answering(httpx2.ReadError("gone"), httpx2.Response(201, json=made))
    items = pd.DataFrame({"document": ["d"], "system": ["s"], "text": ["t"]})
    assert project.import_items(items)["made"] == 1
    assert len({request.headers["Idempotency-Key"] for request in came}) == 1
    assert pauses == [0.5]


def test_progress_of_a_job_is_reported_until_it_is_over(pauses: list[float]) -> None:
    computing = {"current": False, "problem": "", "sections": []}
    project, _ = answering(*[httpx2.Response(200, json=computing)] * 3)
    said: list[str] = []
    project.server.on_progress = said.append
    with pytest.raises(TooSlowError, match="not finished after 0 seconds"):
        project.read_result("agreement", seconds=0)
    assert said == ["Computing agreement."]
    project, _ = answering(httpx2.Response(200, json={**computing, "problem": "No ratings."}))
    with pytest.raises(RefusedError, match="No ratings"):
        project.read_result("agreement")


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    refusal = {"code": "not_found", "message": "This export is not ready.", "fields": {}}
    project, _ = answering(httpx2.Response(404, json=refusal), httpx2.Response(200, content=b"PK"))
    file = tmp_path / "export.zip"
    with pytest.raises(RefusedError, match="not ready"):
        project.server.download("getExportFile", file, slug="p", id=1)
    assert list(tmp_path.iterdir()) == []
    assert project.server.download("getExportFile", file, slug="p", id=1).read_bytes() == b"PK"


@pytest.mark.parametrize(
    ("end", "raised"),
    [
        (httpx2.ReadError("gone"), pytest.raises(RefusedError, match="does not answer: gone")),
        (KeyboardInterrupt(), pytest.raises(KeyboardInterrupt)),
    ],
)
def test_broken_download_leaves_no_partial_file(tmp_path: Path, end: BaseException, raised: Any) -> None:
    def break_off() -> Iterator[bytes]:
        yield b"PK"
        raise end

    project, _ = answering(httpx2.Response(200, content=break_off()))
    with raised:
        project.server.download("getExportFile", tmp_path / "export.zip", slug="p", id=1)
    assert list(tmp_path.iterdir()) == []


def test_large_imports_go_out_in_chunks() -> None:
    made = {"made": {"items": 1}, "already_there": {"items": 0}}
    project, came = answering(*[httpx2.Response(201, json=made)] * 3)
    said: list[str] = []
    project.server.on_progress = said.append
    rows = [{"document": str(number), "system": "s", "text": "t"} for number in range(4001)]
    assert project.import_items(rows)["sent"] == 4001
    assert [len(json.loads(request.content)["items"]) for request in came] == [2000, 2000, 1]
    assert said[-1] == "Imported 4,001 items."


def test_client_waits_the_requested_time(pauses: list[float]) -> None:
    project, _ = answering(
        httpx2.Response(429, headers={"Retry-After": "7"}), httpx2.Response(200, json={"name": "P"})
    )
    assert project.read_settings()["name"] == "P"
    assert pauses == [7]


def test_error_names_a_server_that_is_no_concord(pauses: list[float]) -> None:
    project, _ = answering(httpx2.Response(502, text="Bad gateway"))
    with pytest.raises(RefusedError, match="answers 502 Bad Gateway"):
        project.read_settings()
    project, _ = answering(*[httpx2.ConnectError("refused")] * 5)
    with pytest.raises(RefusedError, match="does not answer: refused"):
        project.read_settings()
