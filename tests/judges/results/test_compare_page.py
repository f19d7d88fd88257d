"""Two sources of values compared: judges, people, panels of raters, and projects of one family."""

import krippendorff
import pytest
from django.db.models import Value
from django.db.models.functions import Concat
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core.models import (
    Addition,
    BridgingItem,
    Document,
    Edition,
    GoldItem,
    Item,
    Project,
    Rating,
    Role,
    Round,
    System,
)
from annotate.results.commands import current_page
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import UnknownChoiceError, result_of, version_of
from annotate.results.shown import ShownPage
from tests.additions.scenes import make_benchmark
from tests.factories import Cast, make_member, make_project
from tests.judges.factories import make_judge, make_template
from tests.judges.measured import (
    MCQ,
    PEOPLE,
    RTS,
    let_judge,
    make_assignment,
    measured_project,
    rated_at_once,
)
from tests.results.reading import cells_of
from tests.versions.test_versions import make_version

pytestmark = pytest.mark.django_db


def compare_page(project: Project, **chosen: str) -> KeptPage:
    return current_page(project=project, result=result_of(project, "compare", chosen))


def answer_of(client: Client, project: Project, **chosen: str) -> str:
    reply = client.get(reverse("results_page", args=[project.slug, "compare"]), chosen)
    assert reply.status_code == 200
    shown = reply.context["shown"]
    assert isinstance(shown, ShownPage)
    return shown.answer


def options_of(project: Project, name: str = "second") -> list[str]:
    choices = {each.parameter.name: each for each in result_of(project, "compare").choices}
    return [key for key, _ in choices[name].options]


def two_models() -> tuple[Cast, dict[str, str]]:
    """Make two judges that differ in their model alone."""
    cast = make_project(documents=4, systems=3)
    template = make_template(cast.project)
    judges = []
    for model, values in (("small", RTS), ("large", MCQ)):
        judge = make_judge(cast.project, name=f"With {model}", model=model, template=template)
        judges.append(let_judge(judge, cast, values))
    return cast, {"first": f"judge-{judges[0].pk}", "second": f"judge-{judges[1].pk}"}


def two_projects() -> tuple[Cast, Cast]:
    """Make a benchmark that two people rated, and an edition of it by a panel of two others."""
    casts = [make_project(documents=4, systems=3, annotators=2) for _ in range(2)]
    for cast, people in zip(casts, (PEOPLE, [RTS, MCQ]), strict=True):
        rated_at_once(cast, people)
    Edition.objects.create(project=casts[1].project, follows=casts[0].project, number=2)
    return casts[0], casts[1]


def let_read(reader: Cast, other: Cast) -> None:
    for role, user in ((Role.ADMIN, reader.admin), (Role.RESEARCHER, reader.researcher)):
        make_member(other.project, role, user=user)


def test_two_models_are_compared_by_hand_computed_values(client: Client) -> None:
    cast, chosen = two_models()
    (row,) = cells_of(cast.project, "compare", "agreement", **chosen)
    assert cast.dimensions[0].measurement_level == "interval"
    alpha = krippendorff.alpha([RTS, MCQ], level_of_measurement="interval", value_domain=[1, 2, 3, 4, 5])
    assert row["alpha"].value == pytest.approx(alpha)
    assert row["alpha"].low is not None
    assert (row["equal"].value, row["within_one"].value) == pytest.approx((4 / 12, 11 / 12))
    (row,) = cells_of(cast.project, "compare", "bias", **chosen)
    assert row["bias"].value == pytest.approx(1 / 12)
    # Sums of the systems: 12, 14, 13 and 12, 14, 14.
    ranks = cells_of(cast.project, "compare", "ranks", **chosen)
    found = [
        tuple(row[key].value for key in ("system", "first_rank", "second_rank", "change")) for row in ranks
    ]
    assert found == [("system-2", 1, 1, 0), ("system-3", 2, 1, 1), ("system-1", 3, 3, 0)]
    assert [row["difference"].value for row in ranks] == [0, 0.25, 0]
    (order,) = cells_of(cast.project, "compare", "order", **chosen)
    assert (order["kendall"].value, order["moved"].value) == (pytest.approx(2 / 6**0.5), 1)
    client.force_login(cast.researcher)
    assert "1 of 3 ranks change." in answer_of(client, cast.project, **chosen)


def test_same_and_equal_sources_get_a_message(client: Client) -> None:
    cast, chosen = two_models()
    twin = let_judge(make_judge(cast.project, name="Twin"), cast, RTS)
    client.force_login(cast.admin)
    same = {**chosen, "second": chosen["first"]}
    assert answer_of(client, cast.project, **same) == "Both sources are the same. Choose another one above."
    equal = answer_of(client, cast.project, first=chosen["first"], second=f"judge-{twin.pk}")
    assert equal == "The two sources have the same value on every common unit."


def test_single_source_lists_the_missing_data(client: Client) -> None:
    cast = measured_project(rts=[], mcq=[])
    client.force_login(cast.admin)
    page = client.get(reverse("results_page", args=[cast.project.slug, "compare"]))
    assert "A comparison needs two sources of values: open a round" in page.content.decode()


def test_people_and_judge_without_a_common_unit_get_a_message(client: Client) -> None:
    cast = measured_project(people=[[1, *[None] * 11]], rts=[None, *RTS[1:]], mcq=[])
    client.force_login(cast.admin)
    assert answer_of(client, cast.project).startswith("No unit is common to both sources.")
    (units,) = cells_of(cast.project, "compare", "units")
    assert [units[key].value for key in ("common", "first_only", "second_only")] == [0, 1, 11]


def test_editions_are_compared_on_units_with_equal_outputs() -> None:
    old, new = two_projects()
    let_read(new, old)
    Item.objects.filter(pk=new.items[0].pk).update(digest="other")
    Rating.objects.filter(assignment__item=new.items[1]).delete()
    chosen = {"first": f"project-{old.project.slug}", "second": "round-1"}
    (units,) = cells_of(new.project, "compare", "units", **chosen)
    counted = [units[key].value for key in ("common", "other_text", "first_only", "second_only")]
    assert counted == [10, 1, 1, 0]
    (row,) = cells_of(new.project, "compare", "bias", **chosen)
    first = [sum(values) / 2 for values in zip(*PEOPLE, strict=True)][2:]
    second = [sum(values) / 2 for values in zip(RTS, MCQ, strict=True)][2:]
    assert row["bias"].value == pytest.approx((sum(second) - sum(first)) / 10)


def test_other_scale_of_an_edition_has_a_reason() -> None:
    old, new = two_projects()
    let_read(new, old)
    guideline = new.project.rounds.get().guideline
    guideline.content["dimensions"][0]["scale_maximum"] = 7
    type(guideline).objects.filter(pk=guideline.pk).update(content=guideline.content)
    (row,) = cells_of(new.project, "compare", "agreement", second=f"project-{old.project.slug}")
    assert (row["alpha"].value, row["alpha"].reason) == (None, "The scales of the two sources differ.")


def test_edition_needs_all_readers_to_read_the_other_project(client: Client) -> None:
    old, new = two_projects()
    let_judge(make_judge(new.project, name="Judge"), new, RTS)
    key = f"project-{old.project.slug}"
    let_read(new, old)
    assert options_of(new.project)[-1] == key
    assert compare_page(new.project, second=key).table("agreement")
    url = reverse("results_page", args=[new.project.slug, "compare"])
    stranger = make_member(new.project, Role.RESEARCHER)
    assert stranger.user
    for reader in (new.researcher, stranger.user):  # the kept result is there, and nobody gets it
        client.force_login(reader)
        assert client.get(url, {"second": key}).status_code == 404
        assert old.project.name not in client.get(url).content.decode()
    with pytest.raises(UnknownChoiceError):
        compare_page(new.project, second=key)
    as_rater = make_member(old.project, Role.ANNOTATOR, user=stranger.user)
    make_member(old.project, Role.RESEARCHER, user=stranger.user)
    assert key not in options_of(new.project)  # who rates in an open Round I reads no results
    as_rater.active = False
    as_rater.save()
    assert key in options_of(new.project)


def test_first_choice_is_never_another_project() -> None:
    old, new = two_projects()
    let_read(new, old)
    assert result_of(new.project, "compare").chosen == {"first": "round-1", "second": "round-1"}


def test_values_of_the_other_project_change_the_version() -> None:
    old, new = two_projects()
    let_read(new, old)
    result = result_of(new.project, "compare", {"second": f"project-{old.project.slug}"})
    before = version_of(result, new.project)
    own = version_of(result_of(new.project, "compare"), new.project)
    Rating.objects.filter(assignment__round__project=old.project).update(value=5)
    assert version_of(result, new.project) != before
    assert version_of(result_of(new.project, "compare"), new.project) == own


def test_two_versions_are_compared_by_the_values_that_they_keep(client: Client) -> None:
    cast = make_benchmark()
    make_version(cast.project)
    Rating.objects.filter(assignment__item=cast.items[0]).update(value=5)  # from 2
    make_version(cast.project, "Corrected.")
    Rating.objects.filter(assignment__round__project=cast.project).update(value=1)
    assert options_of(cast.project)[-2:] == ["version-1.0", "version-1.1"]
    chosen = {"first": "version-1.0", "second": "version-1.1"}
    (row,) = cells_of(cast.project, "compare", "bias", **chosen)
    assert (row["bias"].value, row["bias"].count) == (pytest.approx(3 / 12), 12)
    (units,) = cells_of(cast.project, "compare", "units", **chosen)
    assert [units[key].value for key in ("common", "other_text", "first_only", "second_only")] == [
        12,
        0,
        0,
        0,
    ]
    (row,) = cells_of(cast.project, "compare", "bias", first="version-1.1", second="round-1")
    assert row["bias"].value == pytest.approx(1 - (3 + 3 / 12))
    client.force_login(cast.researcher)
    assert answer_of(client, cast.project, **chosen).startswith("Alpha between the two sources is")


def test_versions_of_an_edition_need_access_to_it() -> None:
    old, new = make_benchmark(), make_benchmark()
    Edition.objects.create(project=new.project, follows=old.project, number=2)
    make_version(old.project)
    key = f"version-1.0-{old.project.slug}"
    let_judge(make_judge(new.project, name="Judge"), new, RTS)
    assert key not in options_of(new.project)
    let_read(new, old)
    assert options_of(new.project)[-1] == key
    (row,) = cells_of(new.project, "compare", "bias", first="round-1", second=key)
    assert (row["bias"].value, row["bias"].count) == (0, 12)


def test_unrelated_projects_are_matched_by_texts() -> None:
    old, new = two_projects()
    Edition.objects.all().delete()
    let_judge(make_judge(new.project, name="Judge"), new, RTS)
    Document.objects.filter(project=old.project).update(key=Concat(Value("other-"), "key"))
    System.objects.filter(project=old.project).update(name=Concat(Value("team-"), "name"))
    key = f"project-{old.project.slug}"
    assert key not in options_of(new.project)
    let_read(new, old)
    assert key in options_of(new.project)
    chosen = {"first": "round-1", "second": key}
    (units,) = cells_of(new.project, "compare", "units", **chosen)
    assert [units[name].value for name in ("common", "first_only", "second_only")] == [12, 0, 0]
    ranks = cells_of(new.project, "compare", "ranks", **chosen)
    assert {row["system"].value for row in ranks} == {"system-1", "system-2", "system-3"}
    Document.objects.filter(project=old.project).update(digest="another text")
    assert key not in options_of(new.project)


def test_addition_is_compared_on_its_bridging_items() -> None:
    old, new = two_projects()
    Edition.objects.all().delete()
    Addition.objects.create(project=new.project, benchmark=old.project, number=1)
    let_read(new, old)
    Rating.objects.filter(assignment__round__project=new.project).delete()
    first = new.project.rounds.get()
    hidden, now = (
        Round.objects.create(
            project=new.project,
            number=Round.CHECKS,
            guideline=first.guideline,
            seed=1,
            opened_at=timezone.now(),
        ),
        timezone.now(),
    )
    for number, item in enumerate(new.items[:4]):
        gold = GoldItem.objects.create(item=item, use=GoldItem.Use.HIDDEN)
        BridgingItem.objects.create(gold=gold, original=old.items[number])
        assignment = make_assignment(
            hidden, new.annotators[0], item, number + 50, plan="gold", inclusion_probability=1
        )
        Rating.objects.create(
            assignment=assignment, dimension=new.dimensions[0], value=5, created_at=now, updated_at=now
        )
    (row,) = cells_of(new.project, "compare", "bias", second=f"project-{old.project.slug}")
    # People gave 1.5, 4, 2.5 and 2 to the originals.
    assert (row["bias"].value, row["bias"].count) == (-2.5, 4)


def test_categories_are_compared_without_means_and_ties() -> None:
    cast = make_project(documents=4, systems=1, annotators=2)
    dimension = cast.dimensions[0]
    dimension.measurement_level = "nominal"
    dimension.save()
    rated_at_once(cast, [[1, 2, 3, 3], [1, 2, 3, 1]])  # raters tie on the last item
    let_judge(make_judge(cast.project, name="Judge"), cast, [1, 2, 1, 3])
    (row,) = cells_of(cast.project, "compare", "agreement")
    assert (row["units"].value, row["equal"].value) == (3, pytest.approx(2 / 3))
    assert row["within_one"].reason == "Categories have no distance."
    assert compare_page(cast.project).table("bias") is None
