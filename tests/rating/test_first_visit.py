"""The first visit of an annotator: guidelines, then practice, then the first item."""

import pytest
from django.test import Client

from annotate.core.models import Acknowledgement
from annotate.quality.commands import RightValue, describe_gold, mark_gold, set_practice_bar
from annotate.setup.commands import reword_guidelines
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    cast = make_project(documents=3)
    cast.project.guidelines = "Read every review twice."
    cast.project.save(update_fields=["guidelines"])
    return cast


@pytest.fixture
def annotator(client: Client, cast: Cast) -> Client:
    user = cast.annotators[0].user
    assert user
    client.force_login(user)
    return client


def address(cast: Cast, rest: str) -> str:
    return f"/projects/{cast.project.slug}/{rest}"


def start(client: Client, cast: Cast) -> str:
    """Press the button below the guidelines; return the page that follows."""
    sent = {"annotator": cast.annotators[0].pk, "version": 1, "start": "1"}
    return client.post(address(cast, "rate/wording/"), sent)["Location"]


def practise_before(cast: Cast) -> None:
    gold = mark_gold(project=cast.project, item=cast.items[0], use="practice")
    describe_gold(
        project=cast.project, gold=gold, explanation="", values={cast.dimensions[0].pk: RightValue(5, "")}
    )
    set_practice_bar(project=cast.project, bar=100)


def test_first_visit_leads_to_the_guidelines_and_records_them(annotator: Client, cast: Cast) -> None:
    opened(cast)
    page = annotator.get(address(cast, "rate/"))["Location"]
    assert page == address(cast, "guideline/?start=1")
    html = annotator.get(page).content.decode()
    assert "Read every review twice." in html
    assert "I have read them: start rating" in html
    assert start(annotator, cast) == address(cast, "rate/")
    read = Acknowledgement.objects.get()
    assert (read.annotator, read.guideline.version) == (cast.annotators[0], 1)
    assert annotator.get(address(cast, "rate/"))["Location"] == address(cast, "rate/1/")
    assert "I have read them" not in annotator.get(page).content.decode()


def test_practice_follows_the_guidelines(annotator: Client, cast: Cast) -> None:
    practise_before(cast)
    opened(cast)
    page = annotator.get(address(cast, "rate/"))["Location"]
    assert "I have read them: start practice" in annotator.get(page).content.decode()
    start(annotator, cast)
    assert annotator.get(address(cast, "rate/"))["Location"] == address(cast, "practice/")


def test_practice_before_round_one_follows_the_guidelines(annotator: Client, cast: Cast) -> None:
    practise_before(cast)
    page = annotator.get(address(cast, "rate/"))["Location"]
    html = annotator.get(page).content.decode()
    assert f'href="{address(cast, "practice/")}">I have read them' in html
    assert not Acknowledgement.objects.exists()


def test_project_without_guidelines_starts_with_the_first_item(client: Client) -> None:
    cast = make_project(documents=1)
    opened(cast)
    assert cast.annotators[0].user
    client.force_login(cast.annotators[0].user)
    assert client.get(address(cast, "rate/"))["Location"] == address(cast, "rate/1/")


def test_annotator_with_ratings_is_not_led_to_the_guidelines(annotator: Client, cast: Cast) -> None:
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    assert "/rate/" in annotator.get(address(cast, "rate/"))["Location"]


def test_new_wording_appears_to_a_reader_of_the_old_guidelines(annotator: Client, cast: Cast) -> None:
    opened(cast)
    start(annotator, cast)
    annotator.get(address(cast, "rate/"))
    reword_guidelines(project=cast.project, guidelines="Read it once.", note="Shorter.", by=cast.admin)
    assert "Read it once." in annotator.get(address(cast, "rate/1/")).content.decode()
