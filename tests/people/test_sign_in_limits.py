"""Passwords are not guessed, a class signs in at once, and no owner is kept out by who tries elsewhere."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connections
from django.test import Client

from annotate.core.models import AttemptCount, User
from annotate.people.sign_in_limits import forget_old_attempts
from tests.conftest import Clock
from tests.factories import PASSWORD, make_user
from tests.judges.workers import database_url
from tests.people.mails import sent_mails

ROOT = Path(__file__).resolve().parents[2]
TOO_MANY = "Too many wrong passwords"
HOME, CLASS, ATTACKER = "203.0.113.7", "198.51.100.1", "192.0.2.66"


def browser(address: str = HOME) -> Client:
    return Client(REMOTE_ADDR=address)


def sign_in(client: Client, user: User, password: str = PASSWORD) -> str:
    """What came of it: "in", "wrong" or "too many"."""
    response = client.post("/accounts/login/", {"login": user.email, "password": password})
    if response.status_code == 302:
        return "in"
    return "too many" if TOO_MANY in response.content.decode() else "wrong"


def guess(user: User, number: int, *, address: str = ATTACKER) -> list[str]:
    return [sign_in(browser(address), user, f"guess {each}") for each in range(number)]


def guess_everywhere(user: User, number: int) -> list[str]:
    """One guess from each of so many networks."""
    return [sign_in(browser(f"2001:db8:{each:x}::1"), user, f"guess {each}") for each in range(number)]


@pytest.mark.django_db
def test_class_behind_one_ip_signs_in_within_a_minute() -> None:
    people = [make_user() for _ in range(60)]
    # Every third mistypes first.
    for person in people[::3]:
        assert sign_in(browser(CLASS), person, "mistyped") == "wrong"
    assert [sign_in(browser(CLASS), person) for person in people] == ["in"] * 60


@pytest.mark.django_db
def test_guesses_are_stopped_and_the_owner_signs_in_from_elsewhere() -> None:
    user = make_user()
    assert guess(user, 100) == ["wrong"] * 5 + ["too many"] * 95
    assert sign_in(browser(ATTACKER), user) == "too many"
    assert sign_in(browser(HOME), user) == "in"


@pytest.mark.django_db
def test_ips_of_one_network_count_as_one() -> None:
    user = make_user()
    outcomes = [sign_in(browser(f"2001:db8::{each:x}"), user, "wrong") for each in range(1, 8)]
    assert outcomes == ["wrong"] * 5 + ["too many"] * 2


@pytest.mark.django_db
def test_owner_at_the_attacker_ip_signs_in_from_a_known_browser() -> None:
    user, own = make_user(), browser(CLASS)
    assert sign_in(own, user) == "in"
    own.post("/accounts/logout/")
    guess(user, 10, address=CLASS)
    assert sign_in(browser(CLASS), user) == "too many"
    assert sign_in(own, user) == "in"


@pytest.mark.django_db
def test_many_networks_together_guess_a_hundred_times_an_hour_and_shut_out_no_known_device() -> None:
    user, own = make_user(), browser(HOME)
    sign_in(own, user)
    own.post("/accounts/logout/")
    assert guess_everywhere(user, 105) == ["wrong"] * 100 + ["too many"] * 5
    assert sign_in(browser(HOME), user) == "too many"
    assert sign_in(own, user) == "in"


@pytest.mark.django_db
def test_locked_out_owner_recovers_by_mail() -> None:
    user, new = make_user(), browser(HOME)
    guess_everywhere(user, 100)
    assert sign_in(new, user) == "too many"
    new.post("/accounts/password/reset/", {"email": user.email})
    [message] = sent_mails()
    link = str(message.body).partition("http://testserver")[2].split()[0]
    form = new.get(link)["Location"]
    new.post(form, {"password1": "another fine pass", "password2": "another fine pass"})
    assert new.get("/account/preferences/").status_code == 200
    new.post("/accounts/logout/")
    assert sign_in(new, user, "another fine pass") == "in"


@pytest.mark.django_db
def test_a_device_is_known_to_its_own_people_only() -> None:
    owner, stranger, device = make_user(), make_user(), browser(ATTACKER)
    sign_in(device, stranger)
    device.post("/accounts/logout/")
    guess(owner, 5)
    assert sign_in(device, owner) == "too many"
    assert sign_in(device, stranger) == "in"


@pytest.mark.django_db
def test_a_known_device_guesses_no_more_than_others() -> None:
    user, device = make_user(), browser(HOME)
    sign_in(device, user)
    device.post("/accounts/logout/")
    assert [sign_in(device, user, "wrong") for _ in range(7)] == ["wrong"] * 5 + ["too many"] * 2


@pytest.mark.django_db
def test_a_forged_device_is_unknown() -> None:
    user, device = make_user(), browser(ATTACKER)
    sign_in(device, user)
    value = device.cookies["concord_device"].value
    guess(user, 5)
    forger = browser(ATTACKER)
    forger.cookies["concord_device"] = f"x{value}"
    assert sign_in(forger, user) == "too many"


@pytest.mark.django_db
def test_one_password_is_not_tried_on_everyone() -> None:
    people = [make_user() for _ in range(101)]
    outcomes = [sign_in(browser(ATTACKER), person, "password1") for person in people]
    assert outcomes == ["wrong"] * 100 + ["too many"]
    assert sign_in(browser(HOME), people[0]) == "in"


@pytest.mark.django_db
def test_a_right_password_counts_for_nothing() -> None:
    user = make_user()
    assert [sign_in(browser(), user) for _ in range(8)] == ["in"] * 8
    assert guess(user, 6, address=HOME) == ["wrong"] * 5 + ["too many"]


@pytest.mark.django_db(transaction=True)
def test_simultaneous_guesses_count_individually() -> None:
    user = make_user()

    def attempt(number: int) -> str:
        try:
            return sign_in(browser(ATTACKER), user, f"guess {number}")
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, range(24)))
    assert sorted(outcomes) == ["too many"] * 19 + ["wrong"] * 5


@pytest.mark.django_db(transaction=True)
def test_a_class_that_signs_in_at_once_gets_in() -> None:
    people = [make_user() for _ in range(30)]

    def enter(person: User) -> str:
        try:
            return sign_in(browser(CLASS), person)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(enter, people)) == ["in"] * 30


OTHER_PROCESS = """
import sys
import django
django.setup()
from django.test import Client
client = Client(REMOTE_ADDR=sys.argv[2], HTTP_HOST="localhost")
for number in range(4):
    answer = client.post("/accounts/login/", {"login": sys.argv[1], "password": f"guess {number}"})
    assert answer.status_code == 200, answer.status_code
"""


@pytest.mark.django_db(transaction=True)
def test_processes_count_together(tmp_path: Path) -> None:
    user = make_user()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONCORD_")}
    subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, user.email, ATTACKER],
        cwd=ROOT,
        env={
            **kept,
            "DJANGO_SETTINGS_MODULE": "concord.settings",
            "DATABASE_URL": database_url(),
            "CONCORD_DATA": str(tmp_path),
            "CONCORD_DEBUG": "1",
        },
        check=True,
    )
    assert guess(user, 3) == ["wrong", "too many", "too many"]
    assert AttemptCount.objects.exists()


@pytest.mark.django_db
def test_asking_for_new_passwords_fills_no_mailbox_and_reads_the_same() -> None:
    user = make_user()
    pages = [
        browser(f"203.0.113.{each}").post("/accounts/password/reset/", {"email": email}, follow=True)
        for each in range(5)
        for email in (user.email, user.email.upper(), "nobody@example.org")
    ]
    assert {page.status_code for page in pages} == {200}
    assert len({page.content.partition(b"<main")[2] for page in pages}) == 1
    assert [message.to[0] for message in sent_mails()].count("nobody@example.org") == 3
    assert len(sent_mails()) == 6


@pytest.mark.django_db
def test_one_network_cannot_send_mails_to_everyone() -> None:
    for each in range(125):
        browser(ATTACKER).post("/accounts/password/reset/", {"email": f"victim{each}@example.org"})
    assert len(sent_mails()) == 120


@pytest.mark.django_db
def test_attempts_count_for_a_while_and_are_forgotten(clock: Clock) -> None:
    user = make_user()
    assert guess(user, 6)[-1] == "too many"
    clock.advance(minutes=5)
    assert guess(user, 6) == ["wrong"] * 5 + ["too many"]
    assert forget_old_attempts() == 0
    clock.advance(days=1)
    assert forget_old_attempts() == 5
    assert not AttemptCount.objects.exists()
