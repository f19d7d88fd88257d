"""Pictures of guidelines: who adds, sees and removes them, and what is not taken."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotate.core.models import GuidelineImage
from annotate.setup.commands import add_image
from tests.factories import Cast, make_project

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n" + b"a picture"


@pytest.fixture(autouse=True)
def kept(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def address(cast: Cast, rest: str = "") -> str:
    return f"/projects/{cast.project.slug}/images/{rest}"


def upload(client: Client, cast: Cast, name: str, content: bytes):
    return client.post(address(cast), {"file": SimpleUploadedFile(name, content)})


def test_image_is_added_once_and_listed_with_its_markdown(client, cast):
    client.force_login(cast.admin)
    for _ in range(2):
        assert upload(client, cast, "scale.png", PNG)["Location"] == address(cast)
    image = GuidelineImage.objects.get()
    assert f"![scale](image:{image.key})" in client.get(address(cast)).content.decode()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.svg", b"<svg onload='alert(1)'/>", "“a.svg” is not a PNG, JPEG, GIF or WebP image"),
        ("a.png", b"<html>", "“a.png” is not a PNG"),
        ("a.png", PNG + bytes(2 * 1024 * 1024), "“a.png” has 2.0 MB; the limit for an image is 2."),
    ],
)
def test_invalid_image_is_rejected_with_a_message(client, cast, name, content, sentence):
    client.force_login(cast.admin)
    response = upload(client, cast, name, content)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not GuidelineImage.objects.exists()


def test_only_members_see_an_image_and_only_admins_change_them(client, cast):
    image = add_image(project=cast.project, by=cast.admin, name="scale.png", content=PNG)
    other = make_project()
    for user, found in ((cast.annotators[0].user, 200), (cast.researcher, 200), (cast.outsider, 404)):
        client.force_login(user)
        assert client.get(address(cast, image.key)).status_code == found
        assert client.get(address(cast)).status_code == 404
        assert client.post(address(cast, f"{image.key}/remove/")).status_code == 404
    client.force_login(other.admin)
    assert client.get(address(other, image.key)).status_code == 404
    client.force_login(cast.researcher)
    response = client.get(address(cast, image.key))
    assert (response["Content-Type"], response.content) == ("image/png", PNG)
    assert response["Content-Security-Policy"] == "default-src 'none'"


def test_image_used_in_a_guideline_stays(client, cast):
    image = add_image(project=cast.project, by=cast.admin, name="scale.png", content=PNG)
    cast.dimensions[0].guidelines = f"Look: {image.markdown}"
    cast.dimensions[0].save()
    client.force_login(cast.admin)
    page = client.post(address(cast, f"{image.key}/remove/"), follow=True).content.decode()
    assert "This image appears in Fluency. Remove it there first." in page
    cast.dimensions[0].guidelines = ""
    cast.dimensions[0].save()
    page = client.post(address(cast, f"{image.key}/remove/"), follow=True).content.decode()
    assert "“scale.png” is removed." in page
    assert not GuidelineImage.objects.exists()
