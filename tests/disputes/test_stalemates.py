"""Disputes that discussion does not resolve end by themselves, and every kept value has a reason."""

import json

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from annotate.core.errors import InvalidValueError
from annotate.core.models import Dispute, DisputeRater, RatingChange
from annotate.disputes.commands.disputes import (
    adjudicate,
    answer_dispute,
    ask_again,
    leave_open,
    open_again,
    post_message,
    take_back,
)
from annotate.disputes.commands.state import ask_raters
from annotate.disputes.queries.disputes import work_list
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from annotate.people.commands import deactivate_member
from annotate.rating.commands.rounds import close_round_two
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.rating.rounds import discussed

pytestmark = pytest.mark.django_db


def disputed(*values: int) -> tuple[Cast, Dispute]:
    cast = make_project(annotators=len(values), raters_per_item=len(values))
    return cast, discussed(cast, *values)


def raters_asked(dispute: Dispute) -> list[str]:
    asked = dispute.raters.filter(since__isnull=False)
    return list(asked.order_by("rater__alias").values_list("rater__alias", flat=True))


def differ(dispute: Dispute, *raters) -> Dispute:
    for rater in raters:
        dispute = answer_dispute(dispute=dispute, rater=rater, value=None, differs=True)
    return dispute


def test_raters_at_the_extremes_are_pending_and_middle_ones_are_not() -> None:
    _, dispute = disputed(3, 4, 5)
    assert raters_asked(dispute) == ["A", "C"]
    _, all_at_ends = disputed(3, 3, 5)
    assert raters_asked(all_at_ends) == ["A", "B", "C"]


def test_categories_prompt_every_rater() -> None:
    cast = make_project()
    cast.dimensions[0].measurement_level = "nominal"
    cast.dimensions[0].save()
    for value in range(2, 5):
        cast.dimensions[0].points.create(value=value, label=f"Name {value}")
    assert raters_asked(discussed(cast, 1, 3, 5)) == ["A", "B", "C"]


def test_mutual_disagreement_of_raters_ends_the_dispute() -> None:
    cast, dispute = disputed(1, 3, 5)
    first, _, third = cast.annotators
    assert differ(dispute, first).status == "open"
    assert raters_asked(dispute) == ["C"]
    assert differ(dispute, third).status == "irresolvable"
    assert raters_asked(dispute) == []
    assert list(dispute.events.values_list("kind", flat=True)) == ["opened", "irresolvable"]
    causes = RatingChange.objects.filter(rating__assignment__round__number=2)
    assert set(causes.values_list("cause", flat=True)) == {"differs"}
    for membership in cast.annotators:
        assert dispute in work_list(membership).done


def test_an_argument_is_answered_by_the_others_and_a_short_reason_is_none() -> None:
    cast, dispute = disputed(1, 3, 5)
    first, _, third = cast.annotators
    answer_dispute(dispute=dispute, rater=first, value=None, comment="The text says so in line two.")
    answer_dispute(dispute=dispute, rater=third, value=None, short_reason="The text supports it")
    assert Dispute.objects.get().status == "irresolvable"
    cast, dispute = disputed(1, 3, 5)
    first, _, third = cast.annotators
    answer_dispute(dispute=dispute, rater=first, value=None, short_reason="The text supports it")
    answer_dispute(dispute=dispute, rater=third, value=None, comment="Line two is about the price.")
    assert raters_asked(dispute) == ["A"]  # who has not answered what is new
    assert differ(dispute, first).status == "irresolvable"


def test_other_raters_see_the_reason_for_a_confirmed_value(client: Client) -> None:
    cast, dispute = disputed(1, 3, 5)
    first, second, third = cast.annotators
    answer_dispute(dispute=dispute, rater=first, value=None, short_reason="The text supports it")
    answer_dispute(dispute=dispute, rater=second, value=4)
    differ(dispute, second, third)
    client.force_login(second.user)  # type: ignore[arg-type]
    page = client.get(reverse("dispute", args=[cast.project.slug, dispute.number])).content.decode()
    text = " ".join(strip_tags(page).split())
    for said in ("Rater A 1 kept: The text supports it", "You 3 → 4: we differ", "Rater C 5 kept: we differ"):
        assert said in text
    found = ApiClient(second.user).get(f"projects/{cast.project.slug}/disputes/{dispute.number}/").json()
    assert [(each["short_reason"], each["differs"]) for each in found["standpoints"]] == [
        ("The text supports it", False),
        ("", True),
        ("", True),
    ]


@pytest.mark.parametrize("how", ["post", "argument", "value"])
def test_something_new_takes_an_irresolvable_dispute_up_again(how: str) -> None:
    cast, dispute = disputed(1, 3, 5)
    first, second, third = cast.annotators
    differ(dispute, first, third)
    if how == "post":
        post_message(dispute=dispute, author=second, text="What of line four?")
        expected = ["A", "C"]
    elif how == "argument":
        answer_dispute(dispute=dispute, rater=first, value=None, comment="Line four says otherwise.")
        expected = ["C"]
    else:
        answer_dispute(dispute=dispute, rater=second, value=2, comment="I see.")
        expected = ["A", "C"]
    dispute.refresh_from_db()
    assert dispute.status == "open"
    assert list(dispute.events.values_list("kind", flat=True))[-1] == "taken_up"
    assert raters_asked(dispute) == expected


def test_values_that_meet_settle_an_irresolvable_dispute() -> None:
    cast, dispute = disputed(3, 4, 5)
    differ(dispute, cast.annotators[0], cast.annotators[2])
    assert answer_dispute(dispute=dispute, rater=cast.annotators[0], value=4).status == "settled"
    assert raters_asked(dispute) == []


def test_taking_back_that_we_differ_opens_the_dispute_for_oneself() -> None:
    cast, dispute = disputed(1, 3, 5)
    first, _, third = cast.annotators
    differ(dispute, first, third)
    assert take_back(dispute=dispute, rater=third, revision=1).status == "open"
    assert raters_asked(dispute) == ["C"]


def test_an_admin_decides_gives_up_or_has_everyone_answer_again() -> None:
    cast, dispute = disputed(1, 3, 5)
    differ(dispute, cast.annotators[0], cast.annotators[2])
    assert ask_again(dispute=dispute, note="Read line two.", by=cast.admin).status == "open"
    assert raters_asked(dispute) == ["A", "B", "C"]
    assert differ(dispute, *cast.annotators).status == "irresolvable"
    assert adjudicate(dispute=dispute, value=3, note="Line two.", by=cast.admin).status == "adjudicated"
    assert open_again(dispute=dispute, note="I misread it.", by=cast.admin).status == "open"
    assert raters_asked(dispute) == ["A", "B", "C"]
    differ(dispute, *cast.annotators)
    assert leave_open(dispute=dispute, note="It is ambiguous.", by=cast.admin).status == "left_open"


def test_departed_rater_is_no_longer_pending() -> None:
    cast, dispute = disputed(1, 3, 5)
    deactivate_member(membership=cast.annotators[2])
    assert differ(dispute, cast.annotators[0]).status == "irresolvable"


def test_closing_round_two_leaves_it_irresolvable() -> None:
    cast, dispute = disputed(1, 3, 5)
    differ(dispute, cast.annotators[0], cast.annotators[2])
    close_round_two(project=cast.project, by=cast.admin)
    dispute.refresh_from_db()
    assert dispute.status == "irresolvable"
    rows = [json.loads(line) for line in export("final_values", cast) if line]
    assert [row["status"] for row in rows if row["status"] != "undisputed"] == ["irresolvable"]


def export(table: str, cast: Cast) -> list[str]:
    return b"".join(export_table(cast.project, TABLES[table], "jsonl")).decode().splitlines()


def test_value_is_confirmed_with_a_reason_or_not_at_all() -> None:
    cast, dispute = disputed(1, 3, 5)
    first = cast.annotators[0]
    with pytest.raises(InvalidValueError, match="Say why you keep your value"):
        answer_dispute(dispute=dispute, rater=first, value=None)
    with pytest.raises(InvalidValueError, match="none of this project’s short reasons: The text supports it"):
        answer_dispute(dispute=dispute, rater=first, value=None, short_reason="Because")
    assert not RatingChange.objects.filter(rating__assignment__round__number=2).exists()


def test_short_reasons_come_from_the_project_and_are_exported(client) -> None:
    cast, dispute = disputed(1, 3, 5)
    cast.project.keep_reasons = ["Line two"]
    cast.project.save()
    client.force_login(cast.annotators[0].user)
    address = reverse("dispute", args=[cast.project.slug, dispute.number])
    assert 'name="short_reason" value="Line two"' in client.get(address).content.decode()
    sent = {"rater": "A", "seen_revision": 0, "short_reason": "Line two"}
    assert client.post(f"{address}answer/", sent).status_code == 302
    differ(dispute, cast.annotators[2])
    client.force_login(cast.admin)
    listed = client.get(reverse("disputes", args=[cast.project.slug]), {"status": "irresolvable"})
    assert "Values were kept because:" in listed.content.decode()
    assert '<span dir="auto">Line two</span> 1 ·' in listed.content.decode()
    rows = [json.loads(line) for line in export("history", cast)]
    assert [(row["cause"], row["short_reason"]) for row in rows if row["round"] == 2] == [
        ("kept", "Line two"),
        ("differs", ""),
    ]
    overview = client.get(reverse("project", args=[cast.project.slug])).content.decode()
    assert "1 could not be resolved by discussion and waits for an adjudicator." in overview
    close_round_two(project=cast.project, by=cast.admin)
    overview = client.get(reverse("project", args=[cast.project.slug])).content.decode()
    assert "1 could not be resolved by discussion, and nobody adjudicated it." in overview


def test_page_invites_the_middle_rater_and_reports_the_outcome(client) -> None:
    cast, dispute = disputed(3, 4, 5)
    address = reverse("dispute", args=[cast.project.slug, dispute.number])
    client.force_login(cast.annotators[1].user)
    assert "you are welcome to answer, but you are not asked to" in client.get(address).content.decode()
    differ(dispute, cast.annotators[0], cast.annotators[2])
    html = client.get(address).content.decode()
    assert "discussion did not resolve it" in html
    adjudicate(dispute=dispute, value=5, note="So it is.", by=cast.admin)
    html = client.get(address).content.decode()
    assert '<span class="axis-decided" data-style="left: 100.00%">5</span>' in html
    assert ". Decided: 5" in html


def test_pending_raters_follow_from_the_history_alone() -> None:
    cast, dispute = disputed(1, 3, 5)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=None, comment="Line two.")
    post_message(dispute=dispute, author=cast.annotators[1], text="Why?")
    before = set(DisputeRater.objects.values_list("rater", "since"))
    DisputeRater.objects.all().delete()
    ask_raters([dispute])
    assert set(DisputeRater.objects.values_list("rater", "since")) == before != set()
