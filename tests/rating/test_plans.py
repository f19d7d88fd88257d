"""Choosing how Round I is shared out, its preview, and what opening the round makes of it."""

from collections import Counter

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.core.errors import FrozenError, NotReadyError
from annotate.core.models import Assignment, AssignmentPlan, Item
from annotate.rating.commands.assignments import renew_reservation, reserve_items
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.rounds import open_round_one
from annotate.rating.queries.plans import plan_of, planned_work, severity_by_plan, shared_out
from annotate.rating.queries.work import first_unfinished
from annotate.watching.queries.overview import own_work
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


def make_scene() -> Cast:
    return make_project(documents=5, annotators=4, raters_per_item=2)


@pytest.fixture
def admin(client: Client, cast: Cast) -> Client:
    client.force_login(cast.admin)
    return client


REST = {"share": "10", "gold_every": "10", "repeat_every": "0"}


def address(cast: Cast) -> str:
    return f"/projects/{cast.project.slug}/assignment-plan/"


@pytest.mark.parametrize(
    ("kind", "raters"), [("everyone", {4: 10}), ("balanced", {2: 10}), ("sharing", {2: 6, 4: 4})]
)
def test_opening_assigns_the_previewed_plan(cast: Cast, kind: str, raters: dict[int, int]) -> None:
    chosen = choose_plan(project=cast.project, kind=kind, share=35)
    preview = planned_work(chosen)
    assert preview is not None
    assert preview.plan.raters_per_item == raters
    round = opened(cast)
    assignments = Assignment.objects.filter(round=round)
    assert set(assignments.values_list("plan", "seed", "inclusion_probability")) == {(kind, round.seed, 1.0)}
    as_opened = shared_out(round)
    assert as_opened.plan.overlap.tolist() == preview.plan.overlap.tolist()
    annotator = cast.annotators[0]
    own = assignments.filter(annotator=annotator).order_by("position")
    assert [assignment.position for assignment in own] == list(range(1, preview.plan.loads[0] + 1))
    shown = own_work(annotator).progress
    assert shown
    assert (first_unfinished(round, annotator), shown.total) == (1, len(own))
    assert reserve_items(round=round, annotator=annotator) == 0


def test_planned_assignment_is_no_reservation_and_never_expires(cast: Cast) -> None:
    choose_plan(project=cast.project, kind="everyone")
    opened(cast)
    membership = Assignment.objects.filter(annotator=cast.annotators[0])[0]
    renew_reservation(assignment=membership, annotator=cast.annotators[0])
    membership.refresh_from_db()
    assert membership.reserved_until is None


def test_the_shared_queue_is_the_default(admin: Client, cast: Cast) -> None:
    assert plan_of(cast.project).kind == "queue"
    assert "each annotator who requests work gets the next" in admin.get(address(cast)).content.decode()
    opened(cast)
    assert not Assignment.objects.filter(annotator__isnull=False).exists()


def test_infeasible_plan_suggests_a_feasible_one_and_opens_nothing(admin: Client, cast: Cast) -> None:
    cast.project.raters_per_item = 5
    cast.project.save()
    page = admin.post(address(cast), {"kind": "balanced", **REST}, follow=True).content.decode()
    assert "This plan needs at least 5 annotators. There are only 4. Invite more people" in page
    with pytest.raises(NotReadyError, match="at least 5 annotators"):
        opened(cast)
    assert not cast.project.rounds.exists()


@pytest.mark.parametrize("kind", ["balanced", "sharing"])
def test_a_document_is_rated_by_the_same_people_unless_items_are_dealt(cast: Cast, kind: str) -> None:
    cast.project.seed = 1
    cast.project.save()

    def panels(dealt_by: str) -> int:
        """How many different panels rate the items of a document, over all documents."""
        work = planned_work(choose_plan(project=cast.project, kind=kind, dealt_by=dealt_by))
        assert work
        documents = [item.document_id for item in cast.items]
        assert work.items == [item.pk for item in cast.items]
        return len(set(zip(documents, work.plan.raters, strict=True)))

    assert panels("documents") == 5 < panels("items")


def test_preview_shows_the_severity_gap_of_systems_under_each_plan(admin: Client, cast: Cast) -> None:
    choose_plan(project=cast.project, kind="balanced", dealt_by="items")
    html = admin.get(address(cast)).content.decode()
    work = planned_work(plan_of(cast.project))
    assert work
    assert work.severity
    average, most = work.severity
    assert f"{average:.2f} points on average and by up to {most:.2f}" in html
    found = dict(severity_by_plan(plan_of(cast.project)))
    assert found["N of M, dealt out evenly, single items"] == work.severity
    assert found["N of M, dealt out evenly, whole documents"] == pytest.approx((0, 0))
    assert len(found) == 5
    assert all(f'<th scope="row">{name}</th>' in html for name in found)


def test_a_preview_saves_nothing_and_has_no_page_around_it(admin: Client, cast: Cast) -> None:
    entered = {"kind": "everyone", **REST, "show": "preview"}
    part = admin.post(address(cast), entered, headers={"HX-Request": "true"}).content.decode()
    assert part.lstrip().startswith('<section id="preview"')
    assert "40 rater slots" in part
    assert "<html" not in part
    assert not AssignmentPlan.objects.exists()


def send(client: Client, cast: Cast, text: str, **more: str) -> str:
    file = SimpleUploadedFile("lists.csv", text.encode())
    entered = {"kind": "listed", **REST, "file": file, **more}
    return client.post(address(cast), entered, follow=True).content.decode()


def test_file_assigns_raters_to_items(admin: Client, cast: Cast) -> None:
    ann, bo = cast.annotators[:2]
    assert bo.user
    names = (f"1/system-1,{ann.label}", f"1/system-1,{bo.user.email}", "2/system-1,A")
    text = "\n".join(["item,annotator", *(f"product-{name}" for name in names)])
    page = send(admin, cast, text)
    assert "8 items will have no rater." in page
    assert (
        "The plan is saved"
        in admin.post(address(cast), {"kind": "listed", **REST}, follow=True).content.decode()
    )  # the list need not be sent again
    round = opened(cast)
    given = Assignment.objects.filter(round=round).values_list("annotator", flat=True)
    assert Counter(given) == {ann.pk: 2, bo.pk: 1}
    assert set(Assignment.objects.values_list("plan", flat=True)) == {"listed"}


def test_wrong_list_is_rejected_by_line(admin: Client, cast: Cast) -> None:
    page = send(admin, cast, "item,annotator\nproduct-9/system-1,A\nproduct-1/system-1,Z\n")
    assert "Line 2: there is no item “product-9/system-1”." in page
    assert "Line 3: there is no annotator “Z”." in page
    assert (
        "Choose the file with the lists."
        in admin.post(address(cast), {"kind": "listed", **REST}).content.decode()
    )
    assert not AssignmentPlan.objects.exists()


def test_a_list_that_is_out_of_date_opens_nothing(cast: Cast) -> None:
    pair = (cast.items[0].pk, cast.annotators[0].pk)
    choose_plan(project=cast.project, kind="listed", pairs=[pair])
    Item.objects.filter(pk=cast.items[0].pk).delete()
    with pytest.raises(NotReadyError, match="Upload it again"):
        opened(cast)


def test_the_plan_is_fixed_once_the_round_is_open(admin: Client, cast: Cast) -> None:
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    with pytest.raises(FrozenError):
        choose_plan(project=cast.project, kind="everyone")
    assert admin.post(address(cast), {"kind": "everyone", **REST}).status_code == 409
    assert "Items shared in Round I" in admin.get(address(cast)).content.decode()


def test_recorded_ratings_get_free_slots_under_any_plan(cast: Cast) -> None:
    choose_plan(project=cast.project, kind="everyone")
    open_round_one(project=cast.project, by=cast.admin, as_planned=False)
    assert not Assignment.objects.filter(annotator__isnull=False).exists()


def test_only_admins_plan(client: Client, cast: Cast) -> None:
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        assert user
        client.force_login(user)
        assert client.get(address(cast)).status_code == 404
        assert client.post(address(cast), {"kind": "everyone", **REST}).status_code == 404


@pytest.mark.parametrize("documents", [1, 4])
def test_the_number_of_queries_is_fixed(
    client: Client, documents: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    cast = make_project(documents=documents, annotators=3 * documents, raters_per_item=2)
    client.force_login(cast.admin)
    choose_plan(project=cast.project, kind="balanced")
    with django_assert_num_queries(12):
        client.get(address(cast))
