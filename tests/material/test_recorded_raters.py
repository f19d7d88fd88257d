"""Raters of recorded ratings who are members: said before the import, or joined later."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.models import (
    Assignment,
    AuditEntry,
    Dispute,
    Invitation,
    Membership,
    Project,
    Rating,
    RecordedName,
    Role,
)
from annotate.material.commands.imports import import_file
from annotate.people.commands import add_member, invite, rename_membership
from annotate.people.recorded_raters import join_recorded_rater, name_recorded_raters
from annotate.quality.commands import decide_counting
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.api.client import ApiClient
from tests.factories import make_member, make_user
from tests.material.files import empty_project, item, jsonl, rating, source

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with two items of one document, each rated by A1 and A2 elsewhere, and a place left."""
    project = empty_project(dimensions=("fluency",))
    load(project, tmp_path, item(system="s1"), item(system="s2"), items=True)
    load(project, tmp_path, *(rating(rater, 3, system=s) for rater in ("A1", "A2") for s in ("s1", "s2")))
    return project


def load(project: Project, folder: Path, *lines: dict[str, Any], items: bool = False) -> None:
    path = jsonl(folder, *lines, name="some.jsonl")
    report = import_file(project=project, source=source(path, items=items, ratings=not items), by=None)
    assert not report.refused_lines


def recorded_membership(project: Project, label: str) -> Membership:
    return Membership.objects.get(project=project, label=label)


def admin_of(project: Project) -> Membership:
    return add_member(project=project, role=Role.ADMIN, user=make_user("boss@example.org"))


def test_recorded_ratings_pass_to_a_member(project: Project, tmp_path: Path) -> None:
    recorded, member = recorded_membership(project, "A1"), make_member(project)
    boss = admin_of(project).user
    assert boss
    offer = invite(project=project, by=boss, role=Role.ANNOTATOR, membership=recorded)
    reserve_items(round=project.rounds.get(), annotator=member)
    assert member.assignments.count() == 2, "places of items that the recording has rated"
    assert join_recorded_rater(recorded=recorded, member=member, by=boss) == 2
    assert Rating.objects.filter(assignment__annotator=member, value=3).count() == 2
    assert not Membership.objects.filter(label="A1").exists()
    assert Assignment.objects.filter(annotator=None, reserved_until=None).count() == 2, "free for others"
    assert Invitation.objects.get(pk=offer.pk).withdrawn_at
    entry = AuditEntry.objects.get(act="place.joined")
    assert entry.before
    assert (entry.before["label"], entry.after) == ("A1", {"member": member.label, "items": 2})
    assert reserve_items(round=project.rounds.get(), annotator=member) == 0
    load(project, tmp_path, rating("A1", 3, system="s1"), rating("A1", 3, system="s2"))
    assert Membership.objects.filter(role=Role.ANNOTATOR).count() == 2, "the file's A1 is the member"


def test_member_continues_after_the_recording(project: Project, tmp_path: Path) -> None:
    load(project, tmp_path, item("d2", system="s1"), items=True)
    member = make_member(project)
    round = project.rounds.get()
    reserve_items(round=round, annotator=member)
    new = member.assignments.get(item__document__key="d2")
    join_recorded_rater(recorded=recorded_membership(project, "A1"), member=member, by=None)
    new.refresh_from_db()
    positions = list(member.assignments.order_by("position").values_list("item__document__key", flat=True))
    assert (new.annotator, positions) == (member, ["d2", "d1", "d1"])


def test_two_raters_of_one_item_are_not_joined(project: Project) -> None:
    first, second = recorded_membership(project, "A1"), recorded_membership(project, "A2")
    second.user = make_user()
    second.save()
    with pytest.raises(NotReadyError, match="A1 and A2 both rated 2 items, so they are two raters"):
        join_recorded_rater(recorded=first, member=second, by=None)
    with pytest.raises(InvalidValueError, match="has an account"):
        join_recorded_rater(recorded=second, member=make_member(project), by=None)
    with pytest.raises(InvalidValueError, match="Choose a member of this project"):
        join_recorded_rater(recorded=first, member=make_member(empty_project("other")), by=None)
    assert Rating.objects.filter(assignment__annotator=first).count() == 2


def test_who_counts_is_not_joined_with_who_does_not(project: Project) -> None:
    recorded = recorded_membership(project, "A1")
    decide_counting(membership=recorded, counted=False, note="rushed", by=make_user())
    with pytest.raises(NotReadyError, match="counts in the statistics and the other does not"):
        join_recorded_rater(recorded=recorded, member=make_member(project), by=None)


def test_disputes_are_assigned_to_the_member(project: Project, tmp_path: Path) -> None:
    load(project, tmp_path, item("d2", system="s1"), items=True)
    load(project, tmp_path, rating("A1", 1, document_id="d2"), rating("A2", 5, document_id="d2"))
    close_round_one(project=project, by=None)
    open_round_two(project=project, by=None)
    recorded, member = recorded_membership(project, "A1"), make_member(project)
    join_recorded_rater(recorded=recorded, member=member, by=None)
    asked = {each.rater for each in Dispute.objects.get().raters.all()}
    assert asked == {member, recorded_membership(project, "A2")}


def test_raters_are_identified_before_an_import(project: Project, tmp_path: Path) -> None:
    load(project, tmp_path, item("d2", system="s1"), items=True)
    member = make_member(project)
    boss = admin_of(project).user
    assert boss
    name_recorded_raters(project=project, members={"A3": member.pk}, by=boss)
    load(project, tmp_path, rating("A3", 4, document_id="d2"))
    assert member.assignments.get(started_at__isnull=False).ratings.get().value == 4
    assert not Membership.objects.filter(label="A3").exists()
    with pytest.raises(InvalidValueError, match="Choose a member of this project"):
        name_recorded_raters(project=project, members={"A4": recorded_membership(project, "A1").pk}, by=boss)


def test_another_label_leaves_pseudonym_and_files_unchanged(project: Project, tmp_path: Path) -> None:
    recorded = recorded_membership(project, "A1")
    rename_membership(membership=recorded, label="Expert 1", by=None)
    assert recorded_membership(project, "Expert 1").pseudonym == recorded.pseudonym
    load(project, tmp_path, rating("A1", 3, system="s1"))
    assert Membership.objects.filter(role=Role.ANNOTATOR).count() == 2
    with pytest.raises(InvalidValueError, match="Another annotator is called “A1”"):
        rename_membership(membership=recorded_membership(project, "A2"), label="A1", by=None)
    with pytest.raises(InvalidValueError, match="Only annotators have a label"):
        rename_membership(membership=admin_of(project), label="B", by=None)
    rename_membership(membership=recorded, label="A1", by=None)
    assert set(RecordedName.objects.values_list("name", "membership")) == {
        ("A1", recorded.pk),
        ("Expert 1", recorded.pk),
    }


def test_a_rater_is_joined_under_a_label_that_it_had_before(project: Project, tmp_path: Path) -> None:
    recorded, member = recorded_membership(project, "A1"), make_member(project)
    for label in ("Expert 1", "A1"):
        rename_membership(membership=recorded, label=label, by=None)
    join_recorded_rater(recorded=recorded, member=member, by=None)
    assert set(RecordedName.objects.values_list("name", "membership")) == {
        ("A1", member.pk),
        ("Expert 1", member.pk),
    }


def test_the_page_of_a_recorded_rater_joins_and_renames(client: Client, project: Project) -> None:
    admin, member, recorded = admin_of(project), make_member(project), recorded_membership(project, "A1")
    assert admin.user
    client.force_login(admin.user)
    page = f"/projects/{project.slug}/people/{recorded.pk}/"
    assert "Whose ratings are these?" in client.get(page).content.decode()
    assert client.post(f"{page}label/", {"label": "A 1"}).status_code == 302
    assert client.post(f"{page}label/", {"label": ""}).status_code == 422
    assert client.post(f"{page}join/", {"member": "0"}).status_code == 422
    joined = client.post(f"{page}join/", {"member": str(member.pk)}, follow=True).content.decode()
    assert f"2 items that A 1 rated belong to {member.label} now." in joined
    assert "Whose ratings are these?" not in joined


def test_programs_join_and_rename(project: Project) -> None:
    admin, member, recorded = admin_of(project), make_member(project), recorded_membership(project, "A1")
    program, home = ApiClient(admin.user), f"projects/{project.slug}/people/"
    assert program.put(f"{home}{recorded.pk}/label/", {"label": "X"}).json()["label"] == "X"
    refused = program.post(f"{home}{recorded.pk}/join/", {"member": "0"})
    assert (refused.status_code, refused.json()["fields"].keys()) == (422, {"member"})
    joined = program.post(f"{home}{recorded.pk}/join/", {"member": str(member.pk)})
    assert joined.json()["id"] == member.pk
