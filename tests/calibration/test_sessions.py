"""Calibration sessions: blind, revealed, discussed, and agreements added to the guidelines."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.calibration.commands import (
    add_to_guidelines,
    end_session,
    reveal_complete_sessions,
    reveal_session,
    start_session,
)
from annotate.calibration.queries import session_state
from annotate.core.configuration import project_cards
from annotate.core.errors import DomainError, InvalidValueError, NotReadyError
from annotate.core.models import Assignment, Dispute, Project, Rating
from annotate.disputes.commands.disputes import answer_dispute
from annotate.rating.commands.rounds import close_round_one
from annotate.results.queries.material import items_of
from annotate.setup.commands import delete_project
from tests.factories import Cast, make_project
from tests.questions.asking import give, make_questions
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db


def begin(cast: Cast, *, documents: int = 1, annotators: int = 2) -> Project:
    keys = list(cast.project.documents.order_by("pk").values_list("pk", flat=True)[:documents])
    raters = [each.pk for each in cast.annotators[:annotators]]
    return start_session(project=cast.project, documents=keys, annotators=raters, by=cast.admin)


def answer_all(session: Project, *values: int, key: str = "fluency") -> None:
    """Let each rater give one value to every item."""
    for rater, value in zip(
        session.memberships.filter(role="annotator").order_by("alias"), values, strict=True
    ):
        for item in Assignment.objects.filter(annotator=rater, round__number=1).values_list(
            "item", flat=True
        ):
            give(rater, item, key, value=value)


def test_everybody_answers_blind_then_sees_every_difference() -> None:
    cast = make_project(documents=2, systems=2)
    session = begin(cast)
    assert session.documents.count() == 1
    assert session_state(session).is_blind
    answer_all(session, 3, 4)
    assert not Dispute.objects.exists()
    reveal_session(session=session, by=cast.admin)
    reveal_session(session=session, by=cast.admin)
    # A difference of one point is no dispute in the project; here raters discuss every difference.
    assert Dispute.objects.filter(round__project=session).count() == 2
    assert session_state(session).is_discussed


def test_answers_are_revealed_by_themselves_when_all_are_in() -> None:
    session = begin(make_project())
    answer_all(session, 3, 5)
    other = begin(make_project())
    reveal_complete_sessions()
    assert session_state(session).is_discussed
    assert session_state(other).is_blind


def test_a_reveal_that_stopped_halfway_is_finished() -> None:
    session = begin(make_project())
    answer_all(session, 3, 5)
    close_round_one(project=session, by=None)
    reveal_complete_sessions()
    assert session_state(session).is_discussed


def test_alpha_appears_blind_and_after_discussion() -> None:
    session = begin(make_project(documents=3), documents=3)
    one, two = session.memberships.filter(role="annotator").order_by("alias")
    for number, assignment in enumerate(Assignment.objects.filter(annotator=one).order_by("item")):
        give(one, assignment.item_id, "fluency", value=1 + number % 5)
        give(two, assignment.item_id, "fluency", value=5 - number % 5)
    reveal_session(session=session, by=None)
    for dispute in Dispute.objects.all():
        held = Rating.objects.get(assignment__annotator=one, assignment__item=dispute.item_id)
        answer_dispute(dispute=dispute, rater=two, value=held.value)
    ((_, blind, after),) = session_state(session).agreement
    assert after is not None
    assert blind.value is not None
    assert blind.value < 0
    assert after.value == 1


def test_every_kind_of_question_is_copied_with_its_material() -> None:
    cast = make_questions("parts", "preference", systems=2)
    session = begin(cast)
    assert list(session.dimensions.values_list("key", "kind")) == [("parts", "parts"), ("preference",) * 2]
    pair = session.systems.get(compares=True).items.get()
    assert pair.sides.count() == 2
    assert {side.output.document.project for side in pair.sides.all()} == {session}
    rater = session.memberships.filter(role="annotator").order_by("alias")[0]
    assert give(rater, pair.pk, "preference", value=1).assignment_complete


def test_nothing_of_a_session_counts_in_the_project() -> None:
    cast = make_project()
    before = items_of(cast.project)
    answer_all(begin(cast), 2, 4)
    assert items_of(cast.project) == before
    assert not Rating.objects.filter(assignment__round__project=cast.project).exists()


def test_a_session_is_listed_while_there_is_something_to_do() -> None:
    cast = make_project()
    session = begin(cast)
    user = cast.annotators[0].user
    assert user
    assert {card.project for card in project_cards(user)} == {cast.project, session}
    answer_all(session, 3, 3)
    reveal_session(session=session, by=cast.admin)
    assert [card.project for card in project_cards(user)] == [cast.project]


def test_agreed_wording_enters_the_guidelines_before_and_in_round_one() -> None:
    cast = make_project()
    session = begin(cast)
    add_to_guidelines(session=session, text="A typo is no error.", by=cast.admin)
    cast.project.refresh_from_db()
    assert cast.project.guidelines == "A typo is no error.\n"
    round = opened(cast)
    session.calibrates = cast.project
    add_to_guidelines(session=session, text="Two typos are one.", by=cast.admin)
    cast.project.refresh_from_db()
    round.refresh_from_db()
    assert cast.project.guidelines == "A typo is no error.\n\nTwo typos are one.\n"
    assert round.guideline.version == 2
    with pytest.raises(InvalidValueError):
        add_to_guidelines(session=session, text=" ", by=cast.admin)


def test_a_session_needs_two_raters_and_some_documents() -> None:
    cast = make_project()
    with pytest.raises(InvalidValueError):
        begin(cast, annotators=1)
    with pytest.raises(InvalidValueError):
        begin(cast, documents=0)
    assert not Project.objects.filter(calibrates=cast.project).exists()


def test_a_session_ends_after_its_answers_are_revealed() -> None:
    cast = make_project()
    session = begin(cast)
    with pytest.raises(NotReadyError):
        end_session(session=session, by=cast.admin)
    answer_all(session, 1, 5)
    reveal_session(session=session, by=cast.admin)
    end_session(session=session, by=cast.admin)
    end_session(session=session, by=cast.admin)
    state = session_state(session)
    assert not state.is_discussed
    with pytest.raises(DomainError):
        answer_dispute(
            dispute=Dispute.objects.all()[0], rater=session.memberships.filter(role="annotator")[0], value=3
        )


def test_sessions_go_with_their_project() -> None:
    cast = make_project()
    session = begin(cast)
    answer_all(session, 1, 5)
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not Project.objects.filter(pk__in=[session.pk, cast.project.pk]).exists()


def test_an_admin_carries_a_session_through_in_the_browser(client: Client) -> None:
    cast = make_project()
    client.force_login(cast.admin)
    page = reverse("calibration", args=[cast.project.slug])
    documents = [str(each.pk) for each in cast.project.documents.all()[:1]]
    raters = [str(each.pk) for each in cast.annotators[:2]]
    assert client.post(page, {"documents": documents, "annotators": raters[:1]}).status_code == 422
    made = client.post(page, {"documents": documents, "annotators": raters})
    own = made["Location"]
    session = Project.objects.get(calibrates=cast.project)
    assert "0 of 2" in client.get(own).content.decode()
    answer_all(session, 2, 4)
    assert client.post(own, {"reveal": "on"}, follow=True).status_code == 200
    shown = client.get(own).content.decode()
    assert "differed on 2 answers" in shown
    assert client.post(own, {"agreed": "on", "text": ""}).status_code == 422
    assert client.post(own, {"agreed": "on", "text": "Read twice."}).status_code == 302
    assert client.post(own, {"end": "on"}, follow=True).status_code == 200
    assert session.name in client.get(page).content.decode()


def test_a_rater_who_waits_is_led_to_the_discussion(client: Client) -> None:
    cast = make_project()
    session = begin(cast)
    user = cast.annotators[0].user
    assert user
    client.force_login(user)
    rate = reverse("rate", args=[session.slug])
    answer_all(session, 2, 4)
    assert "This page goes on by itself" in client.get(rate, follow=True).content.decode()
    reveal_complete_sessions()
    answer = client.get(rate, headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == reverse("disputes", args=[session.slug])
    assert client.get(rate)["Location"] == reverse("disputes", args=[session.slug])
