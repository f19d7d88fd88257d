"""The version of a project's data: another one after every change that a figure may rest on."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from annotate.core.access import token_of
from annotate.core.database import write_rows
from annotate.core.jobs import run_job
from annotate.core.models import Assignment, ChangeCount, ComputedResult, Dispute, Rating
from annotate.disputes.commands.disputes import adjudicate, answer_dispute, post_message, take_back
from annotate.material.commands.imports import import_file
from annotate.quality.commands import decide_counting
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from annotate.results import figures
from annotate.results.commands import add_up_changes
from annotate.results.queries.kept import version_of_ratings
from tests.factories import Cast, make_project
from tests.material.files import jsonl, source
from tests.material.files import rating as recorded
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


def version(cast: Cast) -> object:
    return version_of_ratings(cast.project)


def changing(cast: Cast, *acts: Callable[[], object]) -> Iterator[tuple[object, object]]:
    """Yield the version before and after each act."""
    for act in acts:
        before = version(cast)
        act()
        yield before, version(cast)


def disputed() -> tuple[Cast, Dispute]:
    cast = make_project()
    return cast, discussed(cast, 1, 3, 5)


def test_ratings_saved_changed_and_left_out_are_other_data() -> None:
    cast = make_project()
    round, (first, second, _) = opened(cast), cast.annotators
    for before, after in changing(
        cast,
        lambda: rate(cast, round, first, cast.items[0], 3),
        lambda: rate(cast, round, first, cast.items[0], 4),
        lambda: rate(cast, round, first, cast.items[0], 4, comment="Why."),
        lambda: rate(cast, round, second, cast.items[0], None),
        lambda: decide_counting(membership=first, counted=False, note="Too fast.", by=cast.admin),
        lambda: decide_counting(membership=first, counted=True, note="No.", by=cast.admin),
        lambda: close_round_one(project=cast.project, by=cast.admin),
    ):
        assert before != after


def test_a_rating_saved_by_the_page_is_other_data(client: Client) -> None:
    cast = make_project()
    round, rater = opened(cast), cast.annotators[0]
    rate(cast, round, rater, cast.items[0], 3)
    assignment = Assignment.objects.get(annotator=rater, item=cast.items[0])
    assert rater.user is not None
    client.force_login(rater.user)
    before = version(cast)
    address = reverse("save_rating", args=[cast.project.slug, assignment.position, "fluency"])
    answer = client.post(address, {"value": 4, "assignment": token_of(assignment), "annotator": rater.pk})
    assert answer.status_code == 200
    assert Rating.objects.get().value == 4
    assert before != version(cast)


def test_imported_ratings_are_other_data_in_whatever_way_rows_are_written(tmp_path: Path) -> None:
    cast = make_project()
    opened(cast)
    path = jsonl(tmp_path, recorded("Expert", document_id="product-1", system="system-1"))
    for before, after in changing(
        cast, lambda: import_file(project=cast.project, source=source(path, ratings=True), by=None)
    ):
        assert before != after
    rating = Rating.objects.get()
    rate(cast, cast.project.rounds.get(), cast.annotators[0], cast.items[0], 4)
    other = Rating.objects.exclude(pk=rating.pk)
    fields = ("assignment", "dimension", "value", "unsure", "cannot_rate", "not_applicable", "comment")
    more = ("active_seconds", "revision", "client", "sequence", "created_at", "updated_at")
    assignment = Assignment.objects.filter(ratings=None)[0]
    copied = (assignment.pk, rating.dimension_id, 4, False, False, False, "", 0, 1, "", 0)
    moment = (rating.created_at, rating.updated_at)

    def copy() -> None:
        with transaction.atomic():
            write_rows(Rating, [*fields, *more], [(*copied, *map(str, moment))])

    for before, after in changing(
        cast,
        lambda: other.update(value=5),
        copy,
        lambda: Rating.objects.filter(assignment=assignment).delete(),
    ):
        assert before != after


def test_discussion_changes_the_data_version_and_messages_do_not() -> None:
    cast, dispute = disputed()
    first = cast.annotators[0]
    for before, after in changing(
        cast,
        lambda: answer_dispute(dispute=dispute, rater=first, value=2),
        lambda: take_back(dispute=dispute, rater=first, revision=1),
        lambda: adjudicate(dispute=dispute, value=3, note="Decided.", by=cast.admin),
        lambda: adjudicate(dispute=dispute, value=4, note="Decided again.", by=cast.admin),
    ):
        assert before != after
    cast, dispute = disputed()
    before = version(cast)
    post_message(dispute=dispute, author=cast.annotators[0], text="Why?")
    assert version(cast) == before
    close_round_two(project=cast.project, by=cast.admin)
    assert version(cast) != before


def test_another_projects_data_are_its_own_affair() -> None:
    cast, other = make_project(), make_project()
    opened(cast)
    round, before = opened(other), version(cast)
    rate(other, round, other.annotators[0], other.items[0], 3)
    assert version(cast) == before


def test_a_version_stays_when_counts_are_added_up_and_takes_two_queries(django_assert_num_queries) -> None:
    cast, _ = disputed()
    before = version(cast)
    assert ChangeCount.objects.filter(source="ratings").count() > 1
    add_up_changes()
    assert ChangeCount.objects.filter(source="ratings").count() == 1
    with django_assert_num_queries(2):
        assert version(cast) == before
    open_round_two(project=cast.project, by=cast.admin)
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[1], value=4)
    assert version(cast) != before


def test_page_parts_depend_on_round_one_alone_and_retry_by_url(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast, dispute = disputed()
    client.force_login(cast.admin)
    pages = {
        name: reverse(name, args=[cast.project.slug])
        for name in ("disagreements", "quality", "dispute_rules")
    }
    monkeypatch.setattr(figures, "AT_ONCE", 2)
    for name, address in pages.items():
        assert "Computing results" in client.get(address).content.decode(), name
    asked = ComputedResult.objects.filter(project=cast.project)
    assert {each.name for each in asked} == {"spreads?", "signals?"}
    for each in asked:
        run_job("result", each.pk)
    answer_dispute(dispute=dispute, rater=cast.annotators[0], value=2)  # Round II, and so the same spreads
    for name, address in pages.items():
        assert "Computing results" not in client.get(address).content.decode(), name
    asked.update(version="", computed_at=None, problem="A worker broke.")
    html = client.get(pages["disagreements"]).content.decode()
    again = reverse("results_page", args=[cast.project.slug, "spreads"])
    assert f'method="post" action="{again}"' in html
    assert client.get(again)["Location"] == pages["disagreements"]
    assert client.post(again)["Location"] == pages["disagreements"]
    assert asked.get(name="spreads?").asked_at is not None
