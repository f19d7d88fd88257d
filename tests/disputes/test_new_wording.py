"""Wording that changed since a rater rated or read it last is read before disputes are answered."""

from dataclasses import replace

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Acknowledgement, Dispute, RatingChange
from annotate.disputes.commands.disputes import answer_dispute
from annotate.rating.commands.rounds import close_round_two
from annotate.setup.commands import reword_dimension, reword_guidelines
from annotate.setup.queries import spec_of
from tests.factories import Cast, make_project
from tests.rating.rounds import discussed

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client: Client) -> Cast:
    """One dispute of 1, 3 and 5; the first rater is signed in."""
    cast = make_project()
    discussed(cast, 1, 3, 5)
    client.force_login(cast.annotators[0].user)  # type: ignore[arg-type]
    return cast


def reword(cast: Cast, guidelines: str = "Read twice.") -> None:
    reword_guidelines(project=cast.project, guidelines=guidelines, note="Clearer.", by=cast.admin)


def define(cast: Cast, definition: str) -> None:
    dimension = cast.project.dimensions.get()
    to = replace(spec_of(dimension), definition=definition)
    reword_dimension(dimension=dimension, to=to, note="Clearer.", by=cast.admin)


def url(cast: Cast, name: str = "dispute") -> str:
    return reverse(name, args=[cast.project.slug, 1])


def page(client: Client, cast: Cast, **headers: str) -> str:
    return client.get(url(cast), headers=headers).content.decode()


def read(client: Client, cast: Cast, *, version: object = 2, rater: str = "A", **headers: str):
    return client.post(url(cast, "dispute_wording"), {"version": version, "rater": rater}, headers=headers)


def test_new_wording_replaces_the_answers_until_read_once(client: Client, cast: Cast) -> None:
    assert "reworded" not in page(client, cast)
    reword(cast)
    define(cast, "Reads well.")
    shown = page(client, cast)
    assert "<ins>Read twice.</ins>" in shown
    assert '<p dir="auto">Reads well.</p>' in shown
    assert 'id="answer"' not in shown
    assert read(client, cast, version=3).headers["Location"] == url(cast)
    shown = page(client, cast)
    assert "reworded" not in shown
    assert 'id="answer"' in shown
    assert Acknowledgement.objects.get().annotator == cast.annotators[0]


def test_others_have_nothing_to_read(client: Client, cast: Cast) -> None:
    reword(cast)
    for user in (cast.admin, cast.researcher):
        client.force_login(user)
        assert "reworded" not in page(client, cast)
    client.force_login(cast.annotators[0].user)  # type: ignore[arg-type]
    close_round_two(project=cast.project, by=cast.admin)
    assert "reworded" not in page(client, cast)


def test_htmx_gets_the_dispute_with_its_answers_or_why_not(client: Client, cast: Cast) -> None:
    reword(cast)
    htmx = {"HX-Request": "true", "HX-Target": "at-work"}
    assert "reworded" in page(client, cast, **htmx)
    assert "reworded" not in page(client, cast, **(htmx | {"HX-Target": "discussion"}))
    refused = read(client, cast, rater="B", **htmx)
    assert refused.status_code == 422
    assert 'id="at-work"' in refused.content.decode()
    assert read(client, cast, version="none", **htmx).status_code == 422
    assert not Acknowledgement.objects.exists()
    taken = read(client, cast, **htmx).content.decode()
    assert 'id="at-work"' in taken
    assert 'id="answer"' in taken


def test_an_answer_keeps_the_version_that_its_page_showed(client: Client, cast: Cast) -> None:
    shown = page(client, cast)
    assert '<input type="hidden" name="guideline_version" value="1">' in shown
    reword(cast)
    sent = {"rater": "A", "seen_revision": 0, "differs": "on", "guideline_version": 1}
    client.post(url(cast, "dispute_answer"), sent)
    assert "reworded" in page(client, cast)
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[1], value=None, differs=True)
    given = RatingChange.objects.filter(rating__assignment__round__number=2).order_by("pk")
    assert list(given.values_list("guideline__version", flat=True)) == [1, 2]
