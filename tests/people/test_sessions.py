"""People see where they are signed in, end what they do not know, and are signed out after a time."""

from datetime import timedelta

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.test import Client

from annotate.api.tokens import make_token, tokens_of
from annotate.core.models import User
from annotate.people.sessions import LOOKED_AT_EVERY, device_of, forget_ended_sessions, sessions_of
from tests.conftest import Clock
from tests.factories import PASSWORD, Cast, make_project, make_user
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Safari/604.1"
)
EDGE = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/140.0.0.0 Safari/537.36 Edg/140.0"
NEW = {"password1": "another fine pass", "password2": "another fine pass"}


def sign_in(user: User, agent: str = FIREFOX, address: str = "203.0.113.7") -> Client:
    client = Client(HTTP_USER_AGENT=agent, REMOTE_ADDR=address)
    assert client.post("/accounts/login/", {"login": user.email, "password": PASSWORD}).status_code == 302
    return client


def is_signed_in(client: Client) -> bool:
    return client.get("/account/sessions/").status_code == 200


@pytest.fixture
def user() -> User:
    return make_user()


def test_the_page_says_where_with_what_and_when(user: User, clock: Clock) -> None:
    here = sign_in(user)
    sign_in(user, SAFARI, "198.51.100.4")
    sign_in(make_user(), EDGE, "192.0.2.99")
    page = here.get("/account/sessions/").content.decode()
    assert page.index("Firefox on Linux") < page.index("Safari on iPhone")
    assert "198.51.100.4" in page
    assert f"last used {clock.now:%Y-%m-%d} 12:00" in page
    assert "192.0.2.99" not in page


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on iPhone"),
        (EDGE, "Edge on Windows"),
        ("curl/8.0", "A browser"),
        ("", "A browser"),
    ],
)
def test_a_device_is_called_by_browser_and_system(agent: str, device: str) -> None:
    assert device_of(agent) == device


def test_one_session_is_ended_at_once(user: User) -> None:
    here, there = sign_in(user), sign_in(user, SAFARI)
    [other] = [each for each in sessions_of(user) if "iPhone" in each.user_agent]
    assert here.post(f"/account/sessions/{other.pk}/end/")["Location"] == "/account/sessions/"
    assert (is_signed_in(here), is_signed_in(there)) == (True, False)


def test_all_others_are_ended(user: User) -> None:
    here, others = sign_in(user), [sign_in(user, SAFARI) for _ in range(3)]
    here.post("/account/sessions/")
    assert is_signed_in(here)
    assert not any(is_signed_in(each) for each in others)
    assert "You are signed in nowhere else." in here.get("/account/sessions/").content.decode()


def test_users_cannot_end_sessions_of_others(user: User) -> None:
    there = sign_in(user)
    session = sessions_of(user).get()
    assert sign_in(make_user()).post(f"/account/sessions/{session.pk}/end/").status_code == 404
    assert is_signed_in(there)


def test_the_page_takes_as_many_queries_for_one_session_as_for_many(
    user: User, django_assert_num_queries: pytest.FixtureRequest
) -> None:
    here = sign_in(user)
    here.get("/account/sessions/")
    for _ in range(5):
        sign_in(user)
    with django_assert_num_queries(3):  # type: ignore[operator]
        here.get("/account/sessions/")


def test_idle_session_ends(user: User, clock: Clock) -> None:
    used, left = sign_in(user), sign_in(user)
    for _ in range(3):
        clock.advance(days=6)
        assert is_signed_in(used)
    assert not is_signed_in(left)
    assert sessions_of(user).count() == 1


def test_a_session_ends_after_a_month_however_much_it_is_used(user: User, clock: Clock) -> None:
    client = sign_in(user)
    for _ in range(3):
        clock.advance(days=9)
        assert is_signed_in(client)
        client.session.save()  # as whatever is kept in it does, which puts off when it expires
    clock.advance(days=4)
    assert not is_signed_in(client)
    assert not Session.objects.filter(session_key=client.cookies["sessionid"].value).exists()


def test_the_limits_are_settings(user: User, clock: Clock, settings: pytest.FixtureRequest) -> None:
    settings.SESSION_IDLE = 2 * LOOKED_AT_EVERY  # type: ignore[attr-defined]
    client = sign_in(user)
    UserSession.objects.update(last_seen_at=clock.now)  # allauth notes the time of day, not the test's
    assert is_signed_in(client)
    clock.advance(minutes=3)
    assert not is_signed_in(client)


def test_submission_after_a_session_end_is_rejected(clock: Clock) -> None:
    cast: Cast = make_project()
    opened(cast)
    user = cast.annotators[0].user
    assert user
    client = sign_in(user)
    clock.advance(days=15)
    url = f"/projects/{cast.project.slug}/rate/1/fluency/"
    answer = client.post(url, {"value": 3, "place": cast.annotators[0].pk})
    assert answer.status_code == 401


def test_another_password_signs_out_everywhere_else(user: User) -> None:
    here, there = sign_in(user), sign_in(user, SAFARI)
    make_token(user=user, name="notebook", scopes=["read"], lasts=LOOKED_AT_EVERY)
    here.post("/accounts/password/change/", {"oldpassword": PASSWORD, **NEW})
    assert (is_signed_in(here), is_signed_in(there)) == (True, False)
    assert [each.is_this for each in here.get("/account/sessions/").context["sessions"]] == [True]
    assert len(tokens_of(user)) == 1


def test_another_password_revokes_tokens_by_choice(user: User) -> None:
    make_token(user=user, name="notebook", scopes=["read"], lasts=LOOKED_AT_EVERY)
    kept = make_user()
    make_token(user=kept, name="theirs", scopes=["read"], lasts=LOOKED_AT_EVERY)
    entered = {"oldpassword": PASSWORD, **NEW, "revoke_tokens": "on"}
    sign_in(user).post("/accounts/password/change/", entered)
    assert (tokens_of(user), len(tokens_of(kept))) == ([], 1)


def test_ended_sessions_are_removed_with_their_records(user: User, clock: Clock) -> None:
    here, ended = sign_in(user), sign_in(user)
    UserSession.objects.update(last_seen_at=clock.now - timedelta(hours=2))
    assert forget_ended_sessions() == 0
    Session.objects.filter(pk=ended.session.session_key).update(expire_date=clock.now)
    assert forget_ended_sessions() == 1
    assert is_signed_in(here)
    assert UserSession.objects.count() == Session.objects.count() == 1
