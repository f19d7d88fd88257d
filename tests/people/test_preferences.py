"""What a person prefers: kept once, seen on every page and device, and it costs no query."""

import pytest
from django.db import IntegrityError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.core.models import Preferences, User
from annotate.people.commands import save_preferences
from tests.factories import make_project, make_user
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db
PAGE = "/account/preferences/"
GERMAN = {"accept-language": "de-AT,de;q=0.9,en;q=0.5"}
CHOICES = {"theme": "dark", "language": "de"}


@pytest.fixture
def user() -> User:
    return make_user()


def of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_choice_holds_on_every_page_and_every_device(user: User) -> None:
    elsewhere = of(user)
    assert 'data-theme="system"' in elsewhere.get("/").content.decode()
    saved = of(user).post(PAGE, CHOICES)
    assert saved.status_code == 302
    for address in ("/", PAGE, "/nowhere/"):
        page = elsewhere.get(address).content.decode()
        for name, value in CHOICES.items():
            said = "lang" if name == "language" else f"data-{name.replace('_', '-')}"
            assert f'{said}="{value}"' in page


def test_choosing_again_changes_the_one_row(user: User) -> None:
    client = of(user)
    client.post(PAGE, CHOICES)
    client.post(PAGE, {**CHOICES, "theme": "contrast"})
    assert Preferences.objects.get(user=user).theme == "contrast"
    assert Preferences.objects.get(user=user).language == "de"
    page = client.get("/").content.decode()
    assert page.index("contrast.css") < page.index('media="all"')


def test_unknown_choice_is_rejected_and_nothing_is_stored(user: User) -> None:
    response = of(user).post(PAGE, {**CHOICES, "theme": "plaid"})
    assert response.status_code == 422
    assert "errorlist" in response.content.decode()
    assert not Preferences.objects.exists()
    with pytest.raises(IntegrityError):
        Preferences.objects.create(user=user, theme="plaid")


def test_only_their_owner_sees_or_changes_preferences(user: User) -> None:
    save_preferences(user=user, theme="dark")
    other = of(make_user())
    assert 'data-theme="system"' in other.get("/").content.decode()
    other.post(PAGE, {**CHOICES, "theme": "light"})
    assert Preferences.objects.get(user=user).theme == "dark"
    assert Client().get(PAGE).status_code == 302
    assert 'data-theme="system"' in Client().get("/accounts/login/").content.decode()


def test_preferences_cost_no_query() -> None:
    cast = make_project()
    opened(cast)
    user = cast.annotators[0].user
    assert user
    client = of(user)
    address = f"/projects/{cast.project.slug}/rate/1/"
    client.get(address)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(
            connection,
        ) as counted:
            client.get(address)
        counts.append(len(counted))
        save_preferences(user=user, theme="dark")
    assert counts[0] == counts[1]


def test_browser_language_applies_only_without_a_choice(user: User) -> None:
    client = of(user)
    assert '<html lang="de"' in client.get("/", headers=GERMAN).content.decode()
    save_preferences(user=user, language="en")
    assert '<html lang="en"' in client.get("/", headers=GERMAN).content.decode()
    client.post("/accounts/logout/")
    assert '<html lang="en"' in client.get("/accounts/login/", headers=GERMAN).content.decode()


@pytest.mark.parametrize(
    ("before", "chosen", "said"),
    [
        ("en", "de", "Ihre Einstellungen sind gespeichert"),
        ("de", "en", "Your preferences are saved"),
        ("de", "", "Your preferences are saved"),
    ],
)
def test_message_has_the_language_of_the_page_that_shows_it(
    user: User, before: str, chosen: str, said: str
) -> None:
    save_preferences(user=user, language=before)
    client = of(user)
    client.get(PAGE)
    page = client.post(PAGE, {**CHOICES, "language": chosen}, follow=True).content.decode()
    assert said in page


def test_a_language_goes_with_its_person(user: User) -> None:
    save_preferences(user=user, language="de")
    client = of(user)
    client.get("/")
    client.force_login(make_user())
    assert '<html lang="en"' in client.get("/").content.decode()
    assert not client.cookies["django_language"].value
