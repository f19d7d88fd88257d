import pytest

from annotate.core.errors import DisputeClosedError, InvalidValueError, NotYoursError, RoundClosedError
from annotate.core.models import DisputeEvent, Rating, RatingChange
from annotate.disputes.commands.disputes import (
    adjudicate,
    answer_dispute,
    leave_open,
    open_again,
    post_message,
)
from annotate.disputes.queries.disputes import work_list
from annotate.disputes.queries.page import dispute_page
from annotate.rating.commands.rounds import close_round_two
from tests.factories import make_project
from tests.rating.rounds import discussed

pytestmark = pytest.mark.django_db


def test_a_unit_settles_when_all_values_are_within_the_tolerance():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    assert answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4).status == "open"
    assert answer_dispute(dispute=dispute, rater=cast.annotators[1], value=4).status == "settled"
    assert list(dispute.events.values_list("kind", flat=True)) == ["opened", "settled"]


def test_settled_unit_whose_values_diverge_reopens():
    cast = make_project()
    dispute = discussed(cast, 3, 4, 5)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4)
    assert answer_dispute(dispute=dispute, rater=cast.annotators[2], value=1).status == "open"
    assert list(dispute.events.values_list("kind", flat=True)) == ["opened", "settled", "reopened"]


def test_the_value_of_round_one_stays_and_the_history_tells_the_move():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    rater = cast.annotators[0]
    answer_dispute(dispute=dispute, rater=rater, value=3, comment="You are right.")
    values = Rating.objects.filter(assignment__annotator=rater).order_by("assignment__round__number")
    assert list(values.values_list("value", flat=True)) == [1, 3]
    change = RatingChange.objects.get(rating=values[1])
    assert (change.value_before, change.value_after, change.cause, change.comment) == (
        1,
        3,
        "changed",
        "You are right.",
    )


def test_confirmed_value_is_an_answer_with_its_own_history():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    answer_dispute(dispute=dispute, rater=cast.annotators[1], value=None, comment="Because.")
    answer_dispute(dispute=dispute, rater=cast.annotators[1], value=None, comment="Still.")
    changes = RatingChange.objects.filter(rating__assignment__round__number=2)
    assert list(changes.order_by("revision").values_list("value_before", "value_after", "cause")) == [
        (3, 3, "kept"),
        (3, 3, "kept"),
    ]


@pytest.mark.parametrize("value", [None, 3])
def test_rater_without_round_one_value_can_neither_answer_nor_write(value):
    cast = make_project()
    dispute = discussed(cast, 1, None, 5)
    with pytest.raises(NotYoursError, match="gave this unit a value in Round I"):
        answer_dispute(dispute=dispute, rater=cast.annotators[1], value=value)
    with pytest.raises(NotYoursError):
        post_message(dispute=dispute, author=cast.annotators[1], text="I think …")
    assert not Rating.objects.filter(assignment__round__number=2).exists()


def test_an_adjudicated_unit_takes_no_more_answers_and_keeps_everyones_values():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    adjudicate(dispute=dispute, value=3, note="Two aspects of three.", by=cast.admin)
    adjudicate(dispute=dispute, value=3, note="Two aspects of three.", by=cast.admin)
    with pytest.raises(DisputeClosedError, match="adjudicated"):
        answer_dispute(dispute=dispute, rater=cast.annotators[0], value=3)
    with pytest.raises(DisputeClosedError):
        post_message(dispute=dispute, author=cast.annotators[0], text="But …")
    event = DisputeEvent.objects.get(kind="adjudicated")
    assert (event.value, event.note, event.actor) == (3, "Two aspects of three.", cast.admin)
    assert list(Rating.objects.order_by("value").values_list("value", flat=True)) == [1, 3, 5]


def test_adjudication_needs_a_reason_and_a_value_of_the_scale():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    with pytest.raises(InvalidValueError, match="why"):
        adjudicate(dispute=dispute, value=3, note="  ", by=cast.admin)
    with pytest.raises(InvalidValueError, match="1 to 5"):
        adjudicate(dispute=dispute, value=7, note="Because.", by=cast.admin)


def test_a_corrected_reason_or_value_is_another_event_and_the_same_again_is_not():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    for value, note in (
        (3, "Two of tree."),
        (3, "Two of three."),
        (3, "Two of three."),
        (4, "Two of three."),
    ):
        adjudicate(dispute=dispute, value=value, note=note, by=cast.admin)
    decisions = dispute.events.filter(kind="adjudicated").values_list("value", "note")
    assert list(decisions) == [(3, "Two of tree."), (3, "Two of three."), (4, "Two of three.")]


def test_left_open_keeps_its_reason():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    for _ in range(2):
        assert leave_open(dispute=dispute, note="The text is ambiguous.", by=cast.admin).status == "left_open"
    assert dispute.events.get(kind="left_open").note == "The text is ambiguous."


def test_leaving_a_dispute_open_needs_a_reason():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    with pytest.raises(InvalidValueError, match="why"):
        leave_open(dispute=dispute, note=" ", by=cast.admin)
    assert not dispute.events.filter(kind="left_open").exists()


def test_only_an_open_dispute_can_stay_open():
    cast = make_project()
    dispute = discussed(cast, 3, 4, 5)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4)
    with pytest.raises(DisputeClosedError, match="this one is settled"):
        leave_open(dispute=dispute, note="It is ambiguous.", by=cast.admin)
    adjudicate(dispute=dispute, value=4, note="All say so.", by=cast.admin)
    with pytest.raises(DisputeClosedError, match="this one is adjudicated"):
        leave_open(dispute=dispute, note="It is ambiguous.", by=cast.admin)
    dispute.refresh_from_db()
    assert (dispute.status, dispute.adjudicated_value) == ("adjudicated", 4)


@pytest.mark.parametrize(("values", "status"), [((1, 3, 5), "open"), ((3, 4, 5), "settled")])
def test_an_admin_takes_a_decision_back_and_the_raters_answer_again(values, status):
    cast = make_project()
    dispute = discussed(cast, *values)
    if status == "settled":
        answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4)
    adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    with pytest.raises(InvalidValueError, match="why"):
        open_again(dispute=dispute, note="", by=cast.admin)
    for _ in range(2):
        found = open_again(dispute=dispute, note="I misread it.", by=cast.admin)
        assert (found.status, found.adjudicated_value) == (status, None)
    event = dispute.events.get(kind="resumed")
    assert (event.actor, event.note, event.value) == (cast.admin, "I misread it.", None)
    answer_dispute(dispute=dispute, rater=cast.annotators[2], value=5, comment="I stay.")


def test_dispute_left_open_can_be_reopened_until_round_two_closes():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    leave_open(dispute=dispute, note="It is ambiguous.", by=cast.admin)
    assert open_again(dispute=dispute, note="It is not.", by=cast.admin).status == "open"
    close_round_two(project=cast.project, by=cast.admin)
    with pytest.raises(RoundClosedError):
        open_again(dispute=dispute, note="Once more.", by=cast.admin)


@pytest.mark.parametrize("text", ["", "   \n"])
def test_empty_message_is_rejected(text):
    cast = make_project()
    with pytest.raises(InvalidValueError, match="Write something"):
        post_message(dispute=discussed(cast, 1, 3, 5), author=cast.annotators[0], text=text)


def test_a_closed_round_two_takes_no_answers():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    close_round_two(project=cast.project, by=cast.admin)
    with pytest.raises(RoundClosedError):
        answer_dispute(dispute=dispute, rater=cast.annotators[0], value=3)


def test_work_list_separates_own_tasks_from_pending_tasks_of_others():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    first, second, _ = cast.annotators
    assert work_list(first).needing_me == [dispute]
    answer_dispute(dispute=dispute, rater=first, value=None, comment="Because.")
    assert work_list(first).waiting == [dispute]
    post_message(dispute=dispute, author=first, text="What of aspect two?")
    assert work_list(first).waiting == [dispute]
    post_message(dispute=dispute, author=second, text="It is missing.")
    assert work_list(first).needing_me == [dispute]
    answer_dispute(dispute=dispute, rater=first, value=4)
    answer_dispute(dispute=dispute, rater=second, value=4)
    assert [each.pk for each in work_list(first).done] == [dispute.pk]
    assert work_list(first).needing_me == []


def test_the_page_says_who_keeps_the_unit_open():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    page = dispute_page(dispute, reader=cast.annotators[0])
    assert page.apart == "You and Rater C are 4 apart."
    assert [(each.name, each.value, each.first.comment) for each in page.standpoints] == [
        ("you", 1, "Reason of A."),
        ("Rater B", 3, "Reason of B."),
        ("Rater C", 5, "Reason of C."),
    ]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ((3, 3, 5), "Rater C is 2 above you and Rater B."),
        ((5, 3, 3), "You are 2 above Rater B and Rater C."),
        ((1, 5, 5), "Rater B and Rater C are 4 above you."),
    ],
)
def test_page_names_the_isolated_rater(values, says):
    cast = make_project()
    assert dispute_page(discussed(cast, *values), reader=cast.annotators[0]).apart == says
