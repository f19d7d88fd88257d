"""Numbers that no database column holds lead nowhere: they are answered like any other wrong address."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from annotate.core.models import Role, User
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


def sent(browser: Client, program: ApiClient, method: str, address: str) -> Any:
    if address.startswith("api/v1/"):
        return program.send(method, address.removeprefix("api/v1/"), None if method == "GET" else {})
    return browser.generic(method, f"/{address}")
