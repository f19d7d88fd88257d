"""The first account of an empty installation, by the address that its terminal prints."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import User
from annotate.people.commands import first_account_token
from concord.management.commands.start import first_account

pytestmark = pytest.mark.django_db
GIVEN = {
    "name": "Ada",
    "email": "Ada@example.org",
    "password1": "long-enough-9",
    "password2": "long-enough-9",
}


def test_printed_url_creates_the_project_creator_account_once() -> None:
    address = first_account("http://testserver/").split()[-1]
    visitor = Client()
    assert visitor.post(address, {**GIVEN, "password2": "another-one-9"}).status_code == 422
    assert visitor.post(address, GIVEN, follow=True).status_code == 200
    user = User.objects.get()
    assert (user.name, user.email, user.is_staff) == ("Ada", "ada@example.org", True)
    assert visitor.get(reverse("project_new")).status_code == 200
    assert Client().get(address).status_code == Client().post(address, GIVEN).status_code == 404
    assert (first_account("http://testserver/"), User.objects.count()) == ("", 1)


def test_first_account_requires_the_token() -> None:
    for token in ("first", first_account_token()[:-1], ""):
        assert Client().post(f"/first-account/{token}/", GIVEN).status_code == 404
    assert not User.objects.exists()
