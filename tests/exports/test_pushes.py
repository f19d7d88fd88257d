"""A data set goes to the Hub, here a stand-in: in one commit, once, and with a sentence where it cannot."""

import json
import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import run_job
from annotate.core.models import AuditEntry, Export, KeptAnswer, Push
from annotate.core.outbound import PermittedHost, VariablePermit, host_of
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import delete_export, start_export, start_push
from tests.api.client import ApiClient
from tests.exports.hub import Hub, hub
from tests.factories import Cast, make_project
from tests.rating.rounds import discussed

pytestmark = [
    pytest.mark.django_db,
    # Of huggingface_hub and its own client.
    pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning"),
]
NAME = "someone/boots"


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[Hub]:
    with hub() as there:
        settings.ENVIRONMENT_KEYS = (VariablePermit("HF_TOKEN", host_of(there.url)),)
        monkeypatch.setenv("HF_ENDPOINT", there.url)
        monkeypatch.setenv("HF_TOKEN", there.token)
        # As in a worker, which loads huggingface_hub with its first push; here others may have before.
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        yield there


@pytest.fixture
def cast() -> Cast:
    cast = make_project()
    discussed(cast, 1, 3, 5)
    return cast


def exported(cast: Cast, format: Format = Format.HUGGING_FACE) -> Export:
    export = start_export(project=cast.project, choice=ExportChoice(format), by=cast.admin)
    run_job("export", export.pk)
    export.refresh_from_db()
    return export


def pushed(export: Export, cast: Cast, repository: str = NAME, *, private: bool = True) -> Push:
    push = start_push(export=export, repository=repository, private=private, by=cast.admin)
    run_job("push", push.pk)
    push.refresh_from_db()
    return push


def test_a_data_set_is_one_private_commit_and_the_same_bytes_are_no_other(there: Hub, cast: Cast) -> None:
    push = pushed(exported(cast), cast)
    repository = there.repositories[NAME]
    assert (push.status, push.message) == ("pushed", "")
    assert push.url == f"{there.url}/datasets/{NAME}/commit/{repository.commits[0]}"
    assert (repository.private, len(repository.commits)) == (True, 1)
    assert {"README.md", "manifest.json", "croissant.json", "DATASHEET.md"} < repository.files.keys()
    assert repository.files["data/ratings/test-00000-of-00001.parquet"].startswith(b"PAR1")
    assert push.sent == push.size == sum(len(content) for content in repository.files.values())
    uploads = there.uploads
    again = pushed(push.export, cast)
    assert (again.pk, again.url, len(repository.commits)) == (push.pk, push.url, 1)
    other = pushed(exported(cast), cast)  # another export of the same state
    assert (other.status, len(repository.commits), there.uploads) == ("pushed", 1, uploads)
    assert json.loads(repository.files["manifest.json"])["content_hash"] == push.export.content_hash


def test_shards_that_are_no_more_are_deleted_and_what_others_added_stays(there: Hub, cast: Cast) -> None:
    export = exported(cast)
    pushed(export, cast)
    files = there.repositories[NAME].files
    files |= {"data/ratings/train-00000-of-00002.parquet": b"old", "paper.pdf": b"theirs"}
    pushed(export, cast)
    assert "data/ratings/train-00000-of-00002.parquet" not in files
    assert files["paper.pdf"] == b"theirs"
    assert len(there.repositories[NAME].commits) == 2


def test_a_repository_may_be_public_from_the_beginning(there: Hub, cast: Cast) -> None:
    pushed(exported(cast), cast, private=False)
    assert not there.repositories[NAME].private


@pytest.mark.once
@pytest.mark.parametrize(
    ("route", "status", "sentence"),
    [
        ("/api/repos/create", 403, "may not write to someone/boots"),
        ("/preupload/", 403, "may not write to someone/boots"),
        ("/preupload/", 404, "The Hub has no someone/boots"),
        ("/objects/batch", 401, "does not know the token"),
        ("/commit/", 413, "The Hub answered 413"),
    ],
)
def test_hub_rejection_is_reported_in_a_message(
    there: Hub, cast: Cast, route: str, status: int, sentence: str
) -> None:
    there.refused[route] = status
    push = pushed(exported(cast), cast)
    assert push.status == "stopped"
    assert sentence in push.message
    there.refused.clear()
    assert pushed(push.export, cast).status == "pushed"


def test_wrong_token_and_missing_hub_are_reported(
    there: Hub, cast: Cast, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    export = exported(cast)
    there.token = "hf_other"
    assert "does not know the token in HF_TOKEN" in pushed(export, cast).message
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "may not send HF_TOKEN to 127.0.0.1" in pushed(export, cast).message
    settings.ENVIRONMENT_KEYS = (VariablePermit("HF_TOKEN", PermittedHost("127.0.0.1", 9)),)
    assert "http://127.0.0.1:9 cannot be reached" in pushed(export, cast).message
    monkeypatch.delenv("HF_TOKEN")
    assert "The environment variable HF_TOKEN is not set" in pushed(export, cast).message


def test_the_token_is_for_the_projects_that_the_operator_lists(
    there: Hub, cast: Cast, client: Client, settings: Any
) -> None:
    export, other = exported(cast), make_project()
    settings.ENVIRONMENT_KEYS = (
        VariablePermit("HF_TOKEN", host_of(there.url), frozenset({other.project.slug})),
    )
    push = pushed(export, cast)
    assert (push.status, there.repositories) == ("stopped", {})
    assert "This project may not send HF_TOKEN to 127.0.0.1." in push.message
    client.force_login(cast.admin)
    page = client.get(reverse("export", args=[cast.project.slug, export.pk])).content.decode()
    assert "CONCORD_ENVIRONMENT_KEYS" in page
    assert 'action="' + reverse("export_push", args=[cast.project.slug, export.pk]) not in page


def test_the_token_is_in_no_row_page_or_log(
    there: Hub, cast: Cast, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    export = exported(cast)
    pushed(export, cast)
    there.refused["/commit/"] = 500
    client.force_login(cast.admin)
    page = client.get(reverse("export", args=[cast.project.slug, export.pk])).content.decode()
    rows = [*Push.objects.values(), *AuditEntry.objects.values(), *Export.objects.values()]
    assert there.token not in caplog.text + page + str(rows)
    assert there.repositories[NAME].commits[0] in page


def test_only_a_finished_export_with_a_name_is_pushed(there: Hub, cast: Cast) -> None:
    waiting = start_export(project=cast.project, choice=ExportChoice(Format.HUGGING_FACE), by=cast.admin)
    for export in (waiting, exported(cast, Format.CSV)):
        with pytest.raises(NotReadyError):
            start_push(export=export, repository=NAME, private=True, by=cast.admin)
    for name in ("boots", "a/b/c", "a/..", "a/b c", "/b", "a/-b", "a/b--c"):
        with pytest.raises(InvalidValueError):
            start_push(export=waiting, repository=name, private=True, by=cast.admin)
    assert there.repositories == {}


def test_one_worker_is_at_it_until_it_is_silent(there: Hub, cast: Cast) -> None:
    export = exported(cast)
    push = start_push(export=export, repository=NAME, private=True, by=cast.admin)
    Push.objects.update(status="pushing", lease=uuid4())
    run_job("push", push.pk)
    with pytest.raises(NotReadyError):
        start_push(export=export, repository=NAME, private=True, by=cast.admin)
    assert there.repositories == {}
    Push.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    assert pushed(export, cast).status == "pushed"


def test_a_push_ends_with_its_export(there: Hub, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    export = exported(cast)
    push = start_push(export=export, repository=NAME, private=True, by=cast.admin)
    made = Hub.made

    def delete_meanwhile(self: Hub, asked: dict[str, Any]) -> tuple[int, Any]:
        self.refused["/preupload/"] = 500  # nothing is asked after this
        return made(self, asked)

    monkeypatch.setattr(Hub, "made", delete_meanwhile)
    monkeypatch.setattr("annotate.exports.commands.push_folder", deleting(export))
    run_job("push", push.pk)
    assert not Push.objects.exists()


def deleting(export: Export) -> Any:
    def push_folder(_folder: Any, _repository: str, *, project: str, private: bool, on_progress: Any) -> str:
        assert private
        assert project
        delete_export(export=export)
        on_progress(0, 1)
        raise AssertionError("goes on")

    return push_folder


def test_an_admin_pushes_on_the_page_of_the_export(there: Hub, cast: Cast, client: Client) -> None:
    export = exported(cast)
    page = reverse("export", args=[cast.project.slug, export.pk])
    client.force_login(cast.admin)
    assert "Push to the Hugging Face Hub" in client.get(page).content.decode()
    refused = client.post(f"{page}push/", {"repository": "boots"})
    assert refused.status_code == 422
    assert "called like name/data-set" in refused.content.decode()
    assert client.post(f"{page}push/", {"repository": NAME, "private": "on"}).status_code == 302
    assert 'hx-trigger="every 1s"' in client.get(page).content.decode()
    run_job("push", Push.objects.get().pk)
    shown = client.get(page).content.decode()
    assert Push.objects.get().url in shown
    assert 'hx-trigger="every 1s"' not in shown
    client.force_login(cast.researcher)
    shown = client.get(page).content.decode()
    assert NAME in shown
    assert "Push to the Hugging Face Hub" not in shown


def test_a_program_pushes_too(there: Hub, cast: Cast) -> None:
    home = f"projects/{cast.project.slug}/exports/{exported(cast).pk}/pushes/"
    program = ApiClient(cast.admin)
    made = program.post(home, {"repository": NAME}, key="once")
    assert (made.status_code, made.json()["private"], made.json()["status"]) == (201, True, "waiting")
    assert program.post(home, {"repository": NAME}, key="once").json() == made.json()
    run_job("push", made.json()["id"])
    (push,) = program.get(home).json()["results"]
    assert (push["status"], push["sent"]) == ("pushed", push["size"])
    assert program.post(home, {"repository": "boots"}).json()["fields"].keys() == {"repository"}
    assert there.token not in "".join(KeptAnswer.objects.values_list("content", flat=True))


def test_command_pushes_and_exits_with_an_error_on_failure(
    there: Hub, cast: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = cast.project.slug
    call_command("export", slug, "--format", "huggingface", "--push", NAME, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["pushed"].startswith(f"{there.url}/datasets/{NAME}/commit/")
    assert json.loads(there.repositories[NAME].files["manifest.json"])["content_hash"] == told["content_hash"]
    with pytest.raises(CommandError, match="--push takes --format huggingface"):
        call_command("export", slug, "--push", NAME)
    there.token = "hf_other"
    with pytest.raises(CommandError, match="does not know the token"):
        call_command("export", slug, "--format", "huggingface", "--push", NAME)
