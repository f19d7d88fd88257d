"""Practice before Round I: answers that are no ratings, what is right after each, a bar to pass."""

import json

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.core import access
from annotate.core.errors import FrozenError, NotReadyError
from annotate.core.models import AuditEntry, GoldItem, PracticeAnswer, Rating, RatingChange
from annotate.quality.commands import RightValue, describe_gold, mark_gold, set_practice_bar, unmark_gold
from annotate.quality.queries import practice_summary
from annotate.rating.commands.rounds import close_round_one
from annotate.rating.queries.hidden_checks import RaterCalibration, ReferenceSide, calibrate
from tests.factories import Cast, make_project
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    """Make a project with two practice items, right at 5 and at 2, and a bar of all right."""
    cast = make_project(documents=3, annotators=2)
    for item, value in zip(cast.items, (5, 2), strict=False):
        gold = mark_gold(project=cast.project, item=item, use="practice")
        right = {cast.dimensions[0].pk: RightValue(value, f"It deserves {value}.")}
        describe_gold(project=cast.project, gold=gold, explanation="Read it slowly.", values=right)
    set_practice_bar(project=cast.project, bar=100)
    cast.project.refresh_from_db()
    return cast


@pytest.fixture
def annotator(client: Client, cast: Cast) -> Client:
    user = cast.annotators[0].user
    assert user
    client.force_login(user)
    return client


def address(cast: Cast, rest: str = "practice/") -> str:
    return f"/projects/{cast.project.slug}/{rest}"


def answers(client: Client, item: str, value: object) -> dict[str, str]:
    """Return what the page of an item sends without scripts."""
    token = client.get(item).context["token"]
    return {"assignment": token, "fluency-value": str(value)}


def practise(client: Client, cast: Cast, *values: int) -> str:
    """Answer the items that come with these values, and return the page at the end."""
    for value in values:
        item = client.get(address(cast))["Location"]
        client.post(item, answers(client, item, value))
        client.get(f"{item}feedback/")
    return client.get(address(cast)).content.decode()


def test_item_feedback_shows_the_right_value_and_its_reason(annotator: Client, cast: Cast) -> None:
    item = annotator.get(address(cast))["Location"]
    before = annotator.get(item).content.decode()
    assert "It deserves 5." not in before
    assert "Read it slowly." not in before
    sent = answers(annotator, item, 3)
    after = annotator.post(item, sent, follow=True).content.decode()
    said = ("not right", "the reference is <strong>5</strong>", "It deserves 5.", "Read it slowly.")
    for each in (*said, "2 below the reference on 1 of 1"):
        assert each in after
    annotator.post(item, {**sent, "fluency-value": "5"})
    assert PracticeAnswer.objects.get().value == 3  # the first answer stands


def test_who_passes_the_bar_may_rate(annotator: Client, cast: Cast) -> None:
    opened(cast)
    assert annotator.get(address(cast, "rate/"))["Location"] == address(cast)
    assert "Practice is passed" in practise(annotator, cast, 5, 3)  # 3 is within the tolerance of 2
    assert annotator.get(address(cast, "rate/"))["Location"] == address(cast, "rate/1/")


def test_who_does_not_practises_again(annotator: Client, cast: Cast) -> None:
    opened(cast)
    assert "1 of 2 values were right (1 exact, 0 near)" in practise(annotator, cast, 5, 5)
    assert annotator.get(address(cast, "rate/"))["Location"] == address(cast)
    annotator.post(address(cast, "practice/again/"))
    annotator.post(address(cast, "practice/again/"))  # an attempt that has just begun is not begun again
    assert "Practice is passed" in practise(annotator, cast, 5, 2)
    assert set(PracticeAnswer.objects.values_list("attempt", flat=True)) == {1, 2}


def test_nothing_is_saved_as_a_rating_before_practice_is_passed(annotator: Client, cast: Cast) -> None:
    round = opened(cast)
    assignment = round.assignments.all()[0]
    round.assignments.filter(pk=assignment.pk).update(annotator=cast.annotators[0], position=1)
    assert annotator.get(address(cast, "rate/1/"))["Location"] == address(cast)
    assignment.refresh_from_db()
    token = access.token_of(assignment)
    sent = {"annotator": cast.annotators[0].pk, "assignment": token, "value": "3"}
    reply = annotator.post(address(cast, "rate/1/fluency/"), sent)
    assert (reply.status_code, reply.json()["code"]) == (409, "not_ready")


def test_practice_is_no_rating_and_its_items_are_no_work(annotator: Client, cast: Cast) -> None:
    practise(annotator, cast, 5, 2)
    round = opened(cast)
    assert (Rating.objects.count(), RatingChange.objects.count()) == (0, 0)
    gold = GoldItem.objects.values("item")
    assert not round.assignments.filter(item__in=gold).exists()


@pytest.mark.parametrize("value", ["", "9", "x"])
def test_invalid_answer_is_prompted_again(annotator: Client, cast: Cast, value: str) -> None:
    item = annotator.get(address(cast))["Location"]
    assert annotator.post(item, answers(annotator, item, value)).status_code == 422
    assert not PracticeAnswer.objects.filter(value__isnull=False).exists()
    assert annotator.get(f"{item}feedback/")["Location"] == item


def sent_by_page(client: Client, cast: Cast, item: str, **answer: object) -> dict[str, str]:
    token = client.get(item).context["token"]
    sent = {"annotator": cast.annotators[0].pk, "assignment": token, "client": "a", **answer}
    return {name: str(value) for name, value in sent.items()}


def test_answers_change_until_the_reference_appears_then_are_rejected(annotator: Client, cast: Cast) -> None:
    item = annotator.get(address(cast))["Location"]
    save = f"{item}answer/fluency/"
    later = sent_by_page(annotator, cast, item, value=4, sequence=2, comment="Why not.")
    assert annotator.post(save, later).json() == {"revision": 0, "complete": True}
    annotator.post(save, {**later, "value": "1", "sequence": "1"})  # overtaken on its way
    assert PracticeAnswer.objects.get().value == 4
    several = json.dumps([{"key": "fluency", "value": "3"}, {"key": "fluency", "value": "9"}])
    reply = annotator.post(f"{item}answers/", {**later, "answers": several}).json()
    assert [each.get("code") for each in reply["answers"]] == [None, "invalid_value"]
    annotator.get(f"{item}feedback/")
    assert annotator.post(save, {**later, "value": "5", "sequence": "3"}).status_code == 422
    assert PracticeAnswer.objects.get().value == 3
    practise(annotator, cast, 3)
    annotator.post(address(cast, "practice/again/"))
    reply = annotator.post(save, later)
    assert (reply.status_code, reply.json()["code"]) == (409, "not_ready")  # of the attempt before
    assert annotator.post(save, {**later, "annotator": "0"}).json()["code"] == "not_yours"
    annotator.logout()
    assert annotator.post(save, later).json()["code"] == "signed_out"
    assert PracticeAnswer.objects.count() == 2


def test_at_the_end_each_dimension_is_summed_up_with_what_to_read_again(
    annotator: Client, cast: Cast
) -> None:
    html = practise(annotator, cast, 3, 3)
    said = ("1 of 2 right, 0 exact", "1 above the reference on 1 of 2, 2 below", "0.5 below it on average")
    for each in (*said, "guideline/#dimension-fluency", ">item 1<"):
        assert each in html
    assert ">item 2<" not in html
    first = PracticeAnswer.objects.order_by("pk")[0]
    PracticeAnswer.objects.filter(pk=first.pk).update(value=None, cannot_rate=True)
    (summary,) = practice_summary(cast.annotators[0])
    assert (summary.right, summary.calibration and summary.calibration.pairs) == (1, 1)


def test_end_reports_available_work(annotator: Client, cast: Cast) -> None:
    html = practise(annotator, cast, 5, 2)
    assert "You can rate as soon as Round I is open." in html
    assert "Begin rating" not in html
    opened(cast)
    html = annotator.get(address(cast)).content.decode()
    assert "You can begin to rate." in html
    assert f'href="{address(cast, "rate/")}">Begin rating</a>' in html
    close_round_one(project=cast.project, by=cast.admin)
    html = annotator.get(address(cast)).content.decode()
    assert "Round I is closed, so there is nothing to rate." in html
    assert "Begin rating" not in html


@pytest.mark.parametrize(
    ("pairs", "is_named", "expected"),
    [
        ([], False, None),
        ([(3, 3)], False, RaterCalibration(1, 1, None, None, 0)),
        (
            [(4, 3), (4, 3), (5, 4), (2, 2), (1, 4)],
            False,
            RaterCalibration(5, 1, ReferenceSide(3, 1, 1), ReferenceSide(1, 3, 3), 0),
        ),
        ([(5, 1), (3, 1)], False, RaterCalibration(2, 0, ReferenceSide(2, 2, 4), None, 3)),
        ([(2, 1), (1, 1)], True, RaterCalibration(2, 1, None, None, None)),
    ],
)
def test_values_are_calibrated_to_their_references(
    pairs: list[tuple[int, int]], is_named: bool, expected: RaterCalibration | None
) -> None:
    assert calibrate(pairs, is_named=is_named) == expected


def test_a_bar_needs_something_to_practise_and_is_fixed_with_the_round() -> None:
    cast = make_project()
    with pytest.raises(NotReadyError, match="Mark an item"):
        set_practice_bar(project=cast.project, bar=80)
    opened(cast)
    with pytest.raises(FrozenError):
        set_practice_bar(project=cast.project, bar=None)


def test_removed_bar_or_item_blocks_no_one(annotator: Client, cast: Cast) -> None:
    assert "1 of 2 values were right (1 exact, 0 near)" in practise(annotator, cast, 5, 5)
    set_practice_bar(project=cast.project, bar=50)
    assert "Practice is passed" in annotator.get(address(cast)).content.decode()
    other = cast.annotators[1].user
    assert other
    for gold in GoldItem.objects.all():
        unmark_gold(project=cast.project, gold=gold)
    annotator.force_login(other)
    assert "Practice is passed" in annotator.get(address(cast)).content.decode()
    acts = AuditEntry.objects.filter(project=cast.project).values_list("act", flat=True)
    assert {"gold.marked", "gold.described", "gold.unmarked", "practice.bar_set"} <= set(acts)


def test_without_a_bar_there_is_no_practice(client: Client) -> None:
    cast = make_project()
    user = cast.annotators[0].user
    assert user
    client.force_login(user)
    assert client.get(address(cast))["Location"] == address(cast, "rate/")


def test_only_annotators_practise(client: Client, cast: Cast) -> None:
    gold = GoldItem.objects.all()[0]
    for user in (cast.outsider, cast.researcher, cast.admin):
        client.force_login(user)
        assert client.get(address(cast)).status_code == 404
        assert client.get(address(cast, f"practice/{gold.pk}/")).status_code == 404
        assert client.post(address(cast, "practice/again/")).status_code == 404


def test_the_number_of_queries_is_fixed(
    annotator: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    item = annotator.get(address(cast))["Location"]
    for _ in range(2):
        with django_assert_num_queries(10):
            annotator.get(item)
        mark_gold(project=cast.project, item=cast.items[5], use="practice")


def test_feedback_separates_exact_from_near_values(annotator: Client, cast: Cast) -> None:
    first = annotator.get(address(cast))["Location"]
    annotator.post(first, answers(annotator, first, 5))
    html = annotator.get(f"{first}feedback/").content.decode()
    assert "✓ exact" in html
    assert "1 exact, 0 near, 0 not right" in html
    second = annotator.get(address(cast))["Location"]
    annotator.post(second, answers(annotator, second, 3))
    html = annotator.get(f"{second}feedback/").content.decode()
    assert "≈ near: 1 off" in html
    assert "1 exact, 1 near, 0 not right" in html


def test_admin_sees_the_score_of_always_giving_the_middle(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    html = client.get(address(cast, "gold/")).content.decode()
    assert "has 1 of 2 values right (50 %), 0 of them exactly." in " ".join(html.split())
    assert "This rater fails practice." in html
    set_practice_bar(project=cast.project, bar=50)
    assert "This rater passes practice." in client.get(address(cast, "gold/")).content.decode()
