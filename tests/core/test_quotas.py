"""A project cannot fill the installation's disk."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from annotate.core.models import DataImport, Export
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def test_uploads_and_exports_beyond_the_quota_get_a_rejection_message(client: Client, settings: Any) -> None:
    settings.PROJECT_BYTES = 100
    cast = make_project()
    client.force_login(cast.admin)
    for pages in ("imports", "judgment_imports"):
        address = reverse(pages, args=[cast.project.slug])
        refused = client.post(address, {"file": SimpleUploadedFile("a.jsonl", b"x" * 101)})
        assert (refused.status_code, "Delete exports or discard" in refused.content.decode()) == (422, True)
    assert not DataImport.objects.exists()
    client.post(address, {"file": SimpleUploadedFile("a.jsonl", b"x" * 100)})
    DataImport.objects.update(size=101)
    refused = client.post(reverse("exports", args=[cast.project.slug]), {"format": "csv"})
    assert (refused.status_code, "Delete exports or discard" in refused.content.decode()) == (422, True)
    assert not Export.objects.exists()
