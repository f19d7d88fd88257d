"""Deleting a project: everything of it goes, histories included, and nothing of another."""

from pathlib import Path

import pytest
from django.apps import apps
from django.db import IntegrityError, InternalError, transaction
from django.test import Client

from annotate.core.errors import InvalidValueError
from annotate.core.models import AuditEntry, Post, Project, ProjectDeletion, RatingChange
from annotate.disputes.commands.disputes import post_message
from annotate.material.commands.imports import import_file
from annotate.setup.commands import delete_project
from tests.factories import Cast, make_project
from tests.material.files import jsonl, source
from tests.rating.rounds import discussed

pytestmark = pytest.mark.django_db
UNOWNED = {"User", "ContentType", "Permission", "WorkerHeartbeat"}


def full_project(folder: Path) -> Cast:
    """A project with material that was imported, ratings, a dispute and a thread."""
    cast = make_project()
    path = jsonl(folder, {"document_id": cast.project.slug, "article": "About shoes."})
    import_file(project=cast.project, source=source(path, items=True), by=None)
    dispute = discussed(cast, 1, 3, 5)
    post_message(dispute=dispute, author=cast.annotators[0], text="Why?")
    return cast


def counts() -> dict[str, int]:
    models = apps.get_models(include_auto_created=True)
    found = {model.__name__: model._base_manager.count() for model in models}
    return {name: count for name, count in found.items() if count and name not in UNOWNED}


def test_everything_of_the_project_goes_and_nothing_of_another(tmp_path: Path) -> None:
    full_project(tmp_path)
    before = counts()
    cast = full_project(tmp_path)
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    told = AuditEntry.objects.get(project=None)
    assert (told.act, told.subject, told.actor) == ("project.deleted", cast.project.name, cast.admin)
    assert (told.before or {})["rating changes"] == 3
    assert counts() == before | {"AuditEntry": before["AuditEntry"] + 1}
    assert not ProjectDeletion.objects.exists()


def test_histories_are_guarded_again_afterwards(tmp_path: Path) -> None:
    full_project(tmp_path)
    cast = make_project()
    delete_project(project=cast.project, name=f" {cast.project.name} ", by=cast.admin)
    for model in (RatingChange, Post, AuditEntry):
        with (
            pytest.raises((IntegrityError, InternalError), match="never rewritten"),
            transaction.atomic(),
        ):
            model.objects.all().delete()
        assert model.objects.exists()


def test_another_name_deletes_nothing(tmp_path: Path) -> None:
    cast = full_project(tmp_path)
    before = counts()
    with pytest.raises(InvalidValueError, match="exactly as it is"):
        delete_project(project=cast.project, name="another", by=cast.admin)
    assert counts() == before


def test_the_page_offers_the_export_and_asks_for_the_name(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    page = f"/projects/{cast.project.slug}/delete/"
    shown = client.get(page).content.decode()
    assert f"/projects/{cast.project.slug}/export/" in shown
    assert f"/projects/{cast.project.slug}/audit/audit.csv" in shown
    assert page in client.get(f"/projects/{cast.project.slug}/settings/").content.decode()
    response = client.post(page, {"name": cast.project.name.lower()})
    assert response.status_code == 422
    assert "exactly as it is" in response.content.decode()
    assert client.post(page, {"name": cast.project.name}).status_code == 302
    assert not Project.objects.filter(pk=cast.project.pk).exists()
