"""What every answer tells browsers."""

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.responses import content_policy
from annotate.results.plots import style_by_attributes
from tests.api.client import ApiClient
from tests.factories import make_project

pytestmark = pytest.mark.django_db


def test_every_answer_has_the_policy_and_is_not_kept(client: Client) -> None:
    cast = make_project()
    answers: list[Any] = [client.get("/accounts/login/"), client.get("/nowhere/")]
    client.force_login(cast.admin)
    answers += [client.get(reverse("project", args=[cast.project.slug])), client.get("/account/tokens/")]
    answers.append(ApiClient(cast.admin).get("projects/"))
    for answer in answers:
        assert "script-src 'self'" in answer["Content-Security-Policy"]
        assert "no-store" in answer["Cache-Control"]
        assert "camera=()" in answer["Permissions-Policy"]
        assert answer["X-Content-Type-Options"] == "nosniff"


def test_the_policy_has_no_exception() -> None:
    for providers in ((), ("https://login.example.org/realms/main", "http://localhost:8080/main")):
        assert "unsafe" not in content_policy(providers)
    assert "form-action 'self' https: http://localhost:8080" in content_policy(providers)


def test_plots_keep_their_styles_as_attributes() -> None:
    sheet = '<defs>\n  <style type="text/css">*{stroke-linejoin: round}</style>\n </defs>'
    drawn = f'<svg width="1">\n {sheet}\n <path style="fill: none; stroke: #123456"/></svg>'
    assert not re.search("style", style_by_attributes(drawn))
    assert '<path fill="none" stroke="#123456"/>' in style_by_attributes(drawn)
