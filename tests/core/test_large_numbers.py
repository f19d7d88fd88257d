"""Numbers that no database column holds lead nowhere: they are answered like any other wrong address."""

import base64
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotate.core.models import Membership, Role, User
from tests.api.client import ApiClient
from tests.factories import make_member, make_project
from tests.rating.rounds import opened
from tests.test_access_table import routes

pytestmark = pytest.mark.django_db
TOO_LARGE = (2**31, 2**63, 10**30)
PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")


@pytest.fixture
def home() -> tuple[str, User]:
    """A project in Round I, and someone who administers it and rates."""
    cast = make_project()
    opened(cast)
    rater = cast.annotators[0].user
    assert rater
    make_member(cast.project, Role.ADMIN, user=rater)
    return cast.project.slug, rater


def addresses(slug: str, number: int) -> Iterator[str]:
    for _, route in routes():
        if "<int:" in route or "<position:" in route:
            yield PARAMETER.sub(lambda found: value(*found.groups(), slug=slug, number=number), route)


def value(kind: str | None, name: str, *, slug: str, number: int) -> str:
    if name == "slug":
        return slug
    return str(number) if kind in ("int", "position") else "fluency"


@pytest.mark.parametrize("number", TOO_LARGE)
def test_numbers_beyond_the_databases_range_are_no_faults(home: tuple[str, User], number: int) -> None:
    slug, user = home
    browser, program = Client(raise_request_exception=False), ApiClient(user)
    browser.force_login(user)
    program.client.raise_request_exception = False
    faults = []
    for address in addresses(slug, number):
        for method in ("GET", "POST"):
            with transaction.atomic():
                answer = sent(browser, program, method, address)
                transaction.set_rollback(True)
            if answer.status_code >= 500:
                faults.append(f"{method} {address}: {answer.status_code}")
    assert not faults, "\n".join(faults)


LONG = "9" * 5000
"""More digits than Python reads as a number."""
CURSOR = base64.b64encode(f"p={LONG}".encode()).decode()


MOMENT = "2026-01-01T00:00:00%2B00:00"


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"templates/own-{LONG}.json", 404),
        (f"projects/{{slug}}/audit/?after={MOMENT}_1_{LONG}", 200),
        (f"projects/{{slug}}/audit/?after={MOMENT}_1_{'9' * 30}", 200),
        (f"projects/{{slug}}/preview/?item={LONG}", 200),
    ],
)
def test_page_for_thousands_of_digits_is_no_fault(address: str, status: int) -> None:
    cast = make_project()
    browser = Client(raise_request_exception=False)
    browser.force_login(cast.admin)
    assert browser.get("/" + address.format(slug=cast.project.slug)).status_code == status


@pytest.mark.parametrize(
    ("address", "sent", "status"),
    [
        ("99/fluency/", {"annotator": LONG}, 404),
        ("wording/", {"version": LONG}, 422),
        ("wording/", {"position": LONG}, 200),
        ("wording/", {"position": 10**11}, 200),
    ],
)
def test_answer_with_thousands_of_digits_is_no_fault(
    home: tuple[str, User], address: str, sent: dict[str, Any], status: int
) -> None:
    slug, user = home
    browser = Client(raise_request_exception=False)
    browser.force_login(user)
    rate = f"/projects/{slug}/rate/"
    browser.get(rate)
    assert browser.get(f"{rate}1/", headers={"Concord-Ahead": LONG}).status_code == 200
    own = Membership.objects.get(user=user, role=Role.ANNOTATOR).pk
    answer = browser.post(rate + address, {"annotator": own, "version": 1, **sent})
    assert answer.status_code == status


NUL = "%00"


def test_address_with_a_nul_character_is_no_fault(home: tuple[str, User]) -> None:
    slug, user = home
    browser, program = Client(raise_request_exception=False), ApiClient(user)
    browser.force_login(user)
    program.client.raise_request_exception = False
    faults = []
    for _, route in routes():
        path = PARAMETER.sub(
            lambda found: slug if found[2] == "slug" else "1" if found[1] in ("int", "position") else NUL,
            route,
        )
        for address in (path, f"{path}?dimension={NUL}&query={NUL}&q={NUL}&document={NUL}"):
            with transaction.atomic():
                answer = sent(browser, program, "GET", address)
                transaction.set_rollback(True)
            if answer.status_code >= 500:
                faults.append(f"{address}: {answer.status_code}")
    assert not faults, "\n".join(faults)


def test_cursor_of_thousands_of_digits_is_not_found(home: tuple[str, User]) -> None:
    program = ApiClient(home[1])
    program.client.raise_request_exception = False
    assert program.get(f"projects/?cursor={CURSOR}").status_code == 404


def sent(browser: Client, program: ApiClient, method: str, address: str) -> Any:
    if address.startswith("api/v1/"):
        return program.send(method, address.removeprefix("api/v1/"), None if method == "GET" else {})
    return browser.generic(method, f"/{address}")
