"""Values revised at the end of a document: beside the independent ones, with a history of their own."""

import pytest
from django.db import IntegrityError, transaction

from annotate.core.errors import InvalidValueError, NotReadyError, RoundClosedError
from annotate.core.models import Assignment, Dispute, Rating, RevisedValue, RevisedValueChange, Round
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.ratings import Answer, Sent, save_rating
from annotate.rating.commands.revising import Revised, revise_value
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.queries.document_end import document_end
from tests.factories import Cast, make_project
from tests.rating.rounds import frozen, opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    """Two documents of three items; the first annotator has rated the first document 2, 5, 3."""
    cast = make_project(documents=2, systems=3)
    choose_plan(project=cast.project, kind="everyone", revises_documents=True)
    round = opened(cast)
    for item, value in zip(cast.items[:3], (2, 5, 3), strict=True):
        rate(cast, round, cast.annotators[0], item, value)
    return cast


def round_of(cast: Cast) -> Round:
    return Round.objects.select_related("guideline", "project").get(project=cast.project, number=1)


def place(cast: Cast, item: int, annotator: int = 0) -> Assignment:
    own = Assignment.objects.select_related("round", "annotator")
    return own.get(item=cast.items[item], annotator=cast.annotators[annotator])


def revise(cast: Cast, item: int, value: int, comment: str = "", sent: Sent | None = None) -> Revised:
    return revise_value(
        assignment=place(cast, item),
        dimension=frozen(round_of(cast)),
        value=value,
        comment=comment,
        by=cast.annotators[0].user,
        sent=sent,
    )


def history(cast: Cast) -> list[tuple[float, float, str]]:
    changes = RevisedValueChange.objects.order_by("pk")
    return list(changes.values_list("value_before", "value_after", "comment"))


def test_a_revised_value_stands_beside_the_rating_with_every_change(cast):
    before = list(Rating.objects.order_by("pk").values())
    assert revise(cast, 0, 3) == Revised(1, 3)
    assert revise(cast, 0, 3) == Revised(1, 3)  # the same again changes nothing
    assert revise(cast, 0, 4, "Closer to the second.").revision == 2
    assert revise(cast, 0, 2).revision == 3  # back to the independent value
    assert list(Rating.objects.order_by("pk").values()) == before
    assert history(cast) == [(2, 3, ""), (3, 4, "Closer to the second."), (4, 2, "")]


def test_keeping_the_independent_value_leaves_nothing_behind(cast):
    assert revise(cast, 0, 2) == Revised(0, 2)
    assert not RevisedValue.objects.exists()


def test_what_a_later_request_overtook_changes_nothing_and_an_unseen_value_is_told(cast):
    revise(cast, 0, 4, sent=Sent(client="one", sequence=8))
    assert revise(cast, 0, 3, sent=Sent(client="one", sequence=7)).value == 4
    assert revise(cast, 0, 5, sent=Sent(client="two", sequence=1)).replaced == 4
    assert revise(cast, 0, 3, sent=Sent(2, client="two", sequence=2)).replaced is None


def test_only_values_on_the_scale_are_taken_and_only_where_an_independent_one_is(cast):
    with pytest.raises(InvalidValueError, match="from 1 to 5; 6"):
        revise(cast, 0, 6)
    save_rating(
        assignment=place(cast, 1),
        dimension=frozen(round_of(cast)),
        answer=Answer(cannot_rate=True),
        by=cast.annotators[0].user,
    )
    with pytest.raises(InvalidValueError, match="nothing to revise"):
        revise(cast, 1, 3)
    assert not RevisedValue.objects.exists()


def test_nothing_is_revised_before_a_document_is_rated_or_after_the_round(cast):
    with pytest.raises(InvalidValueError, match="nothing to revise"):
        revise(cast, 3, 3)
    rate(cast, round_of(cast), cast.annotators[0], cast.items[3], 1)
    with pytest.raises(NotReadyError, match="Rate all items of this document"):
        revise(cast, 3, 3)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(RoundClosedError):
        revise(cast, 0, 3)


def test_nothing_is_revised_where_the_admin_has_not_chosen_it():
    cast = make_project(documents=1, systems=2)
    choose_plan(project=cast.project, kind="everyone")
    round = opened(cast)
    for item in cast.items:
        rate(cast, round, cast.annotators[0], item, 3)
    with pytest.raises(NotReadyError, match="not revised in this round"):
        revise(cast, 0, 4)


def test_it_needs_the_order_by_document_and_is_frozen_with_the_round():
    cast = make_project()
    with pytest.raises(InvalidValueError, match="only where work goes by document"):
        choose_plan(project=cast.project, kind="queue", work_order="mixed", revises_documents=True)
    choose_plan(project=cast.project, kind="queue", revises_documents=True)
    round = opened(cast)
    assert round.revises_documents
    with pytest.raises(IntegrityError), transaction.atomic():
        Round.objects.filter(pk=round.pk).update(work_order="mixed")


def test_disputes_open_by_the_independent_values(cast):
    for annotator in cast.annotators[1:]:
        rate(cast, round_of(cast), annotator, cast.items[0], 4)
        rate(cast, round_of(cast), annotator, cast.items[1], 5)
    revise(cast, 0, 4)  # no longer apart
    revise(cast, 1, 1)  # apart now
    close_round_one(project=cast.project, by=cast.admin)
    assert [dispute.item for dispute in Dispute.objects.all()] == [cast.items[0]]


def test_the_end_of_a_document_sorts_the_values_that_are_held(cast):
    revise(cast, 0, 4)
    document = cast.items[0].document
    end = document_end(round_of(cast), cast.annotators[0], document)
    assert end is not None
    assert [(each.independent, each.value, each.is_revised) for each in end.held] == [
        (5, 5, False),
        (2, 4, True),
        (3, 3, False),
    ]
    assert document_end(round_of(cast), cast.annotators[1], document) is None  # not rated yet
