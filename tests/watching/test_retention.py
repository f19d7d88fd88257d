"""The audit log is kept as long as the operator sets."""

from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse

from annotate.core.audit import record
from annotate.core.models import AuditEntry, AuditRetention
from annotate.periodic_tasks import RemoveOldEntries
from annotate.tasks import forget_acts
from annotate.watching.commands import remove_old_entries
from judges.periodic_tasks import RemoveOldReplies
from judges.tasks import forget_replies
from tests.conftest import Clock
from tests.factories import Cast, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(clock: Clock, settings: Any) -> Cast:
    """A project with two acts of long ago, and settings that keep acts for a month."""
    settings.AUDIT_DAYS = 30
    cast = make_project()
    for act in ("an.old", "an.older"):
        record(cast.project, act, "it", by=cast.admin)
    clock.advance(days=31)
    return cast


def acts() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("act", flat=True))


def test_old_entries_go_and_the_page_says_when(cast: Cast, client: Client) -> None:
    record(cast.project, "a.new", "it", by=cast.admin)
    removed = AuditEntry.objects.count() - 1
    assert remove_old_entries() == removed
    assert (remove_old_entries(), acts()) == (0, ["a.new"])
    client.force_login(cast.admin)
    assert "stay for 30 days" in client.get(reverse("audit", args=[cast.project.slug])).content.decode()


def test_the_last_act_of_a_project_stays(cast: Cast, clock: Clock) -> None:
    record(cast.project, "the.last", "it", by=cast.admin)
    clock.advance(days=31)
    remove_old_entries()
    assert acts() == ["the.last"]
    assert remove_old_entries() == 0


def test_unset_retention_removes_nothing(cast: Cast, settings: Any) -> None:
    settings.AUDIT_DAYS = None
    before = AuditEntry.objects.count()
    assert (remove_old_entries(), AuditEntry.objects.count()) == (0, before)


def test_newer_entries_are_guarded_as_before(cast: Cast) -> None:
    remove_old_entries()
    record(cast.project, "a.new", "it", by=cast.admin)
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry.objects.filter(act="a.new").delete()
    last = AuditRetention.objects.get().up_to
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry.objects.filter(pk__gt=last).delete()


def test_workers_get_retention_tasks_if_a_limit_is_configured(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float] = []
    monkeypatch.setattr(forget_acts, "apply_async", lambda *, expires: told.append(expires))
    monkeypatch.setattr(forget_replies, "apply_async", lambda *, expires: told.append(expires))
    for days in (None, 30):
        settings.AUDIT_DAYS = settings.REPLY_DAYS = days
        for act in (*RemoveOldEntries.acts, *RemoveOldReplies.acts):
            act()
    assert told == [600, 600]
