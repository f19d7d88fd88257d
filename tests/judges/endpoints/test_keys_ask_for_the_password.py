"""A key is entered or changed only by who gives their password, and what was typed is not kept meanwhile."""

from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.http import HttpResponse
from django.test import Client

from judges.core.models import Endpoint, EndpointKey
from tests.factories import PASSWORD, Cast, make_project
from tests.judges.factories import make_endpoint
from tests.judges.pages import address, text_of

pytestmark = pytest.mark.django_db

KEY, OTHER_KEY = "sk-planted-4f1d9c7a2b", "sk-planted-8e0b3d5c6f"
FORM = {
    "name": "OpenAI",
    "base_url": "https://api.openai.com/v1",
    "input_price": "0.15",
    "calls_in_flight": "4",
    "timeout_seconds": "5",
}


@pytest.fixture
def cast(client: Client) -> Cast:
    cast = make_project()
    client.force_login(cast.admin)
    return cast


def save(client: Client, cast: Cast, path: str = "endpoints/new/", **fields: str) -> Any:
    return client.post(address(cast, path), {**FORM, **fields})


def sessions() -> str:
    return str([each.get_decoded() for each in Session.objects.all()])


def test_key_and_password_go_in_one_request(client: Client, cast: Cast) -> None:
    assert save(client, cast, key=KEY, password=PASSWORD).status_code == 302
    assert EndpointKey.objects.get().entered_by == cast.admin
    # For some minutes it counts for the next key too, and the form no longer asks.
    made = Endpoint.objects.get()
    assert "Your own password" not in text_of(client.get(address(cast, f"endpoints/{made.pk}/")))
    save(client, cast, f"endpoints/{made.pk}/", key=OTHER_KEY)
    assert EndpointKey.objects.get().ends_with == OTHER_KEY[-4:]


@pytest.mark.parametrize(
    ("password", "says"), [("", "Enter your password."), ("wrong", "This is not your password.")]
)
def test_without_the_password_nothing_is_saved_and_nothing_else_is_typed_again(
    client: Client, cast: Cast, password: str, says: str
) -> None:
    page: HttpResponse = save(client, cast, key=KEY, password=password)
    assert page.status_code == 422
    assert says in text_of(page)
    assert "Enter the key again" in text_of(page)
    assert 'value="0.15"' in page.content.decode()
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD])
def test_the_key_is_in_no_page_and_no_session(client: Client, cast: Cast, password: str) -> None:
    page = save(client, cast, key=KEY, password=password)
    assert KEY not in page.content.decode()
    assert KEY not in sessions()
    assert PASSWORD not in sessions()


def test_a_changed_key_needs_the_password_too(client: Client, cast: Cast) -> None:
    endpoint = make_endpoint(cast.project, "https://api.openai.com/v1")
    assert save(client, cast, f"endpoints/{endpoint.pk}/", key=KEY).status_code == 422
    assert not EndpointKey.objects.exists()


def test_change_other_than_a_key_is_saved_without_the_password(client: Client, cast: Cast) -> None:
    assert save(client, cast).status_code == 302
    assert Endpoint.objects.get().name == "OpenAI"


def test_the_password_is_not_guessed_here(client: Client, cast: Cast) -> None:
    pages = [text_of(save(client, cast, key=KEY, password=f"guess {each}")) for each in range(6)]
    assert "Too many wrong passwords" in pages[-1]
    assert save(client, cast, key=KEY, password=PASSWORD).status_code == 422
