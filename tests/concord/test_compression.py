"""Pages and replies of the API are compressed; files and short replies are not."""

import gzip

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Item
from tests.api.client import ApiClient
from tests.factories import Cast

pytestmark = [pytest.mark.once, pytest.mark.django_db]
ACCEPTS = {"Accept-Encoding": "br, gzip"}


@pytest.mark.parametrize("path", ["/projects/{slug}/", "/api/v1/projects/{slug}/items/"])
def test_pages_and_replies_of_the_api_are_compressed(path: str, cast: Cast, client: Client) -> None:
    Item.objects.update(text="A summary that fills more than a packet. " * 50)
    client.force_login(cast.admin)
    headers = {"Authorization": f"Bearer {ApiClient(cast.admin).secret}"} if "api" in path else {}
    plain = client.get(path.format(slug=cast.project.slug), headers=headers)
    packed = client.get(path.format(slug=cast.project.slug), headers=headers | ACCEPTS)
    assert "Content-Encoding" not in plain.headers
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["Vary"]
    assert int(packed.headers["Content-Length"]) == len(packed.content) < len(plain.content)
    assert len(gzip.decompress(packed.content)) == len(plain.content)


def test_two_copies_of_a_page_differ_in_token_and_length(cast: Cast, client: Client) -> None:
    client.force_login(cast.admin)
    path = reverse("project", args=[cast.project.slug])
    pages = [client.get(path, headers=ACCEPTS).content for _ in range(8)]
    assert len({len(page) for page in pages}) > 1
    assert len({gzip.decompress(page) for page in pages}) == 8


def test_files_and_short_replies_stay_uncompressed(cast: Cast, client: Client) -> None:
    client.force_login(cast.admin)
    headers = ACCEPTS | {"Authorization": f"Bearer {ApiClient(cast.admin).secret}"}
    assert "Content-Encoding" not in client.get("/api/v1/projects/", headers=headers).headers
    for path in (reverse("audit_download", args=[cast.project.slug, "csv"]), "/health/live"):
        assert "Content-Encoding" not in client.get(path, headers=ACCEPTS).headers
