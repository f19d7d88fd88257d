"""Replies are kept as long as the operator says; what was read of them stays."""

from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core.models import AuditEntry
from judges.core.models import Judgment, JudgmentChange, Run
from judges.runs.commands.outcomes import keep_answers, remove_old_replies
from judges.runs.commands.units import units_proposed_by
from tests.conftest import Clock
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment

pytestmark = pytest.mark.django_db

STEP = {"name": "first", "reply": "Words.", "calls": 1, "input_tokens": 5, "output_tokens": 2}
Scene = tuple[Cast, Judgment]


@pytest.fixture
def scene(clock: Clock, settings: Any) -> Scene:
    """A judgment with a step and a history, of a run that ended 31 days ago; replies are kept for 30."""
    settings.REPLY_DAYS = 30
    cast = make_project()
    judgment = make_judgment(
        make_judge(cast.project, name="Reasoner"),
        cast.items[0],
        cast.dimensions[0],
        reply="Fine throughout. Score: 3",
        rationale="Fine throughout.",
        messages=[{"role": "user", "content": "Rate it."}],
        steps=[STEP],
        steps_done=1,
    )
    keep_answers([judgment], by=None)
    Run.objects.update(status="finished", finished_at=timezone.now())
    clock.advance(days=31)
    return cast, judgment


def test_raw_replies_expire_and_their_parsed_values_stay(scene: Scene, client: Client) -> None:
    cast, judgment = scene
    assert (remove_old_replies(), remove_old_replies()) == (1, 0)
    judgment.refresh_from_db()
    assert (judgment.reply, judgment.messages, judgment.steps) == ("", None, [STEP | {"reply": ""}])
    assert (judgment.value, judgment.rationale, judgment.calls_made) == (3, "Fine throughout.", 2)
    before = judgment.changes.get().answer_before
    assert (before["reply"], before["messages"], before["steps"][0]["reply"]) == ("", None, "")
    assert before["rationale"] == "Fine throughout."
    assert AuditEntry.objects.filter(project=cast.project, act="run.replies_removed").count() == 1
    client.force_login(cast.admin)
    page = client.get(reverse("judgment", args=[cast.project.slug, judgment.pk])).content.decode()
    assert "The model’s reply was removed on" in page
    assert list(units_proposed_by(judgment.judge)) == []


def test_active_new_or_permanent_replies_stay(scene: Scene, settings: Any, clock: Clock) -> None:
    _, judgment = scene
    settings.REPLY_DAYS = 32
    assert remove_old_replies() == 0
    settings.REPLY_DAYS = None
    assert remove_old_replies() == 0
    settings.REPLY_DAYS = 30
    Run.objects.update(status="running", finished_at=None)
    assert remove_old_replies() == 0
    judgment.refresh_from_db()
    assert judgment.reply == "Fine throughout. Score: 3"


def test_failed_judgment_starts_again_on_a_retry(scene: Scene) -> None:
    _, judgment = scene
    Judgment.objects.update(status="failed", value=None, reason="No answer.", reply="")
    remove_old_replies()
    judgment.refresh_from_db()
    assert (judgment.steps, judgment.steps_done) == ([], 0)


@pytest.mark.parametrize(
    "rewritten",
    [
        {"note": "It never happened."},
        {"value_before": 5},
        {"answer_before": {"reply": ""}},
        {"answer_before": {}},
    ],
)
def test_the_history_forgets_words_and_nothing_else(scene: Scene, rewritten: dict[str, Any]) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        JudgmentChange.objects.update(**rewritten)
    change = JudgmentChange.objects.get()
    change.answer_before["reply"] = "Other words."
    with pytest.raises(DatabaseError), transaction.atomic():
        change.save()
