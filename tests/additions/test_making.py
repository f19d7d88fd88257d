"""Making an addition: what it has of its benchmark, what is refused, and that its raters meet old items."""

from dataclasses import replace

import pytest
from django.utils import timezone

from annotate.additions.commands import add_systems, drop_dimension_ids
from annotate.additions.queries import RatedOutput, bridging_items, choose_bridging, new_systems
from annotate.core.errors import FrozenError, InvalidValueError, NotReadyError
from annotate.core.guidelines import guideline_of
from annotate.core.models import Addition, Assignment, BridgingItem, Edition, Project, Round, Submission
from annotate.rating.commands.rounds import open_round_one
from annotate.rating.queries.hidden_checks import checks_of
from annotate.setup.commands import (
    add_dimension,
    delete_project,
    remove_dimension,
    reword_guidelines,
    update_dimension,
    update_project,
)
from annotate.setup.queries import spec_of
from tests.additions.scenes import make_addition, make_benchmark, make_new_raters, rate_all
from tests.factories import make_project
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db


def test_an_addition_asks_what_its_benchmark_asked() -> None:
    cast = make_benchmark()
    addition = make_addition(cast, bridging=3, documents=2)
    child, round = addition.project, open_round_one(project=addition.project, by=cast.admin)
    first = Round.objects.get(project=cast.project, number=1)
    assert drop_dimension_ids(guideline_of(round)) == drop_dimension_ids(guideline_of(first))
    assert new_systems([addition])[addition.pk] == ["newcomer"]
    assert str(child) == f"{cast.project} addition 1"
    # People watch the addition as they watch the benchmark; its annotators are chosen anew.
    roles = {"admin": cast.admin, "researcher": cast.researcher}
    assert {each.role: each.user for each in child.memberships.all()} == roles
    assert make_addition(cast, name="another").number == 2


def test_an_addition_keeps_the_questions_of_its_benchmark() -> None:
    child = make_addition(make_benchmark(documents=1)).project
    dimension = child.dimensions.get()
    for change in (
        lambda: update_project(project=child, guidelines="Others."),
        lambda: update_dimension(dimension=dimension, to=replace(spec_of(dimension), name="Other")),
        lambda: add_dimension(project=child, dimension=replace(spec_of(dimension), name="Other")),
        lambda: remove_dimension(dimension=dimension),
        lambda: reword_guidelines(project=child, guidelines="Others.", note="Why", by=None),
    ):
        with pytest.raises(FrozenError, match="those of its benchmark"):
            change()
    assert update_project(project=child, name="Renamed").name == "Renamed"


def test_bridging_items_spread_over_documents_and_values() -> None:
    addition = make_addition(make_benchmark(), bridging=6)
    chosen = list(bridging_items(addition).prefetch_related("values"))
    assert len({each.item.document_id for each in chosen}) == 6
    assert sorted(value.value for each in chosen for value in each.values.all()) == [2, 2, 3, 3, 4, 4]
    for each in chosen:
        assert each.item.text == BridgingItem.objects.get(gold=each).original.text


def test_no_part_of_the_values_is_favoured_within_a_bridge() -> None:
    project = make_benchmark(documents=1).project
    rated = [RatedOutput(number, number, {"fluency": 1 + number / 10}) for number in range(40)]
    chosen = [choose_bridging(project, rated, number, 10) for number in range(1, 51)]
    assert all([each.item // 4 for each in one] == list(range(10)) for one in chosen)
    positions = [each.item % 4 for one in chosen for each in one]
    assert sum(positions) / len(positions) == pytest.approx(1.5, abs=0.2)


def test_every_rater_meets_the_bridging_items_early_without_warnings() -> None:
    cast = make_benchmark()
    addition = make_addition(cast, bridging=4)
    raters = make_new_raters(addition)
    round = open_round_one(project=addition.project, by=cast.admin)
    for rater in raters:
        met = rate_all(round, rater, lambda _, __: 1)
        plans = [each.plan for each in met]
        assert plans.count(Assignment.Plan.GOLD) == 4
        assert set(plans[:8:2]) == {Assignment.Plan.N_OF_M}
        assert set(plans[1:8:2]) == {Assignment.Plan.GOLD}
    assert not checks_of(addition.project)


def test_outputs_that_do_not_fit_are_rejected() -> None:
    cast = make_benchmark(documents=1)
    make_addition(cast, name="taken")
    for outputs, sentence in (
        ({}, "no outputs"),
        ({"new": {"nowhere": "Text."}}, "no document “nowhere”"),
        ({"system-1": {"product-1": "Text."}}, "has a system “system-1” already"),
        ({"taken": {"product-1": "Text."}}, "has a system “taken” already"),
        ({"new": {"product-1": " "}}, "is empty"),
    ):
        with pytest.raises(InvalidValueError, match=sentence):
            add_systems(project=cast.project, outputs=outputs, bridging=2, by=cast.admin)
    assert Addition.objects.count() == 1


def test_only_finished_benchmarks_have_additions() -> None:
    cast = make_project()
    opened(cast)
    with pytest.raises(NotReadyError, match="Close Round I"):
        make_addition(cast)
    child = make_addition(make_benchmark(documents=1)).project
    with pytest.raises(NotReadyError, match="Only a benchmark"):
        add_systems(project=child, outputs={"new": {"product-1": "Text."}}, bridging=0, by=None)


def test_additions_are_deleted_alone_or_with_their_benchmark() -> None:
    cast = make_benchmark(documents=2)
    one, two = make_addition(cast), make_addition(cast, name="another")
    submission = Submission.objects.create(
        project=cast.project,
        system="newcomer",
        contact="somebody@example.org",
        outputs={},
        digest="d",
        status="accepted",
        addition=one,
        decided_at=timezone.now(),
    )
    delete_project(project=one.project, name=one.project.name, by=cast.admin)
    assert set(Project.objects.all()) == {cast.project, two.project}
    submission.refresh_from_db()
    assert submission.addition is None
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not Project.objects.exists()
    assert not BridgingItem.objects.exists()


def test_a_project_that_an_edition_follows_stays() -> None:
    cast, next_one = make_project(), make_project()
    edition = Edition.objects.create(project=next_one.project, follows=cast.project, number=2)
    with pytest.raises(NotReadyError, match=r"Delete edition 2 first\."):
        delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    delete_project(project=edition.project, name=edition.project.name, by=next_one.admin)
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not Project.objects.exists()
