"""Versions of a project's guideline: what changed between them, and the ratings given under each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.models import Guideline, Project, Rating, Round
from annotate.models.ratings import answered
from annotate.models.rounds import without_checks
from annotate.queries.rounds import rounds_of


@dataclass(frozen=True)
class Change:
    """A wording before and after."""

    where: str
    before: str
    after: str


@dataclass(frozen=True)
class Version:
    """A version of the guideline with what it changed and the ratings given under it, by dimension key."""

    guideline: Guideline
    content: FrozenGuideline
    in_force: list[Round]
    changes: list[Change]
    ratings: Mapping[str, int]


@dataclass(frozen=True)
class AskAgain:
    """A dimension some of whose Round I ratings were given under a version that is not in force."""

    dimension: FrozenDimension
    ratings: int
    asked: int


@dataclass(frozen=True)
class Wording:
    """All versions that a round had or has, the newest first, and who can be asked again."""

    versions: list[Version]
    to_ask: list[AskAgain]


def wording(project: Project) -> Wording:
    """Return the versions of a project's guideline. Five queries."""
    rounds = rounds_of(project)
    given = _given(project)
    found = project.guideline_versions.select_related("made_by").order_by("version")
    used = {version for version, _ in given} | {round.guideline_id for round in rounds.values()}
    versions: list[Version] = []
    for guideline in found:
        if guideline.pk in used or guideline.note:
            versions.append(_version(guideline, versions[-1] if versions else None, rounds, given))
    return Wording(versions[::-1], _to_ask(rounds.get(1)))


def versions_of(round: Round) -> QuerySet[Guideline]:
    """Return the versions that ratings of a round were given under, and the one in force, in their order."""
    seen = Rating.objects.filter(assignment__round=round).order_by().values("guideline").distinct()
    versions = Guideline.objects.filter(Q(pk__in=seen) | Q(pk=round.guideline_id), project=round.project_id)
    return versions.order_by("version")


def ratings_to_ask_again(round: Round, dimension: int | None = None) -> QuerySet[Rating]:
    """Return the answers given under a version that is not in force, by people who can still answer."""
    people = Q(assignment__annotator__active=True, assignment__annotator__user__isnull=False)
    ratings = Rating.objects.filter(people, answered(), assignment__round=round, asked_again_at__isnull=True)
    of_dimension = ratings if dimension is None else ratings.filter(dimension=dimension)
    return of_dimension.exclude(guideline=round.guideline_id)


def _given(project: Project) -> dict[tuple[int, str], int]:
    counts = (
        Rating.objects.filter(
            answered(),
            without_checks("assignment__round__"),
            assignment__round__project=project,
            guideline__isnull=False,
        )
        .values_list("guideline", "dimension__key")
        .annotate(count=Count("pk"))
        .order_by()
    )
    return {(guideline, key): count for guideline, key, count in counts}


def _version(
    guideline: Guideline,
    before: Version | None,
    rounds: Mapping[int, Round],
    given: Mapping[tuple[int, str], int],
) -> Version:
    content = FrozenGuideline.from_json(guideline.content)
    return Version(
        guideline=guideline,
        content=content,
        in_force=[each for each in rounds.values() if each.guideline_id == guideline.pk],
        changes=list(changes(before.content, content)) if before else [],
        ratings={each.key: given.get((guideline.pk, each.key), 0) for each in content.dimensions},
    )


def _to_ask(round: Round | None) -> list[AskAgain]:
    if round is None or not round.is_open:
        return []
    left = dict(ratings_to_ask_again(round).values_list("dimension").annotate(count=Count("pk")).order_by())
    waiting = Rating.objects.filter(assignment__round=round, asked_again_at__isnull=False)
    asked = dict(waiting.values_list("dimension").annotate(count=Count("pk")).order_by())
    dimensions = FrozenGuideline.from_json(round.guideline.content).dimensions
    found = [AskAgain(each, left.get(each.id, 0), asked.get(each.id, 0)) for each in dimensions]
    return [each for each in found if each.ratings or each.asked]


def changes(before: FrozenGuideline, after: FrozenGuideline) -> Iterator[Change]:
    """Return what differs in wording between two versions."""
    if before.guidelines != after.guidelines:
        yield Change("Guidelines for all dimensions", before.guidelines, after.guidelines)
    old = {each.id: each for each in before.dimensions}
    for dimension in after.dimensions:
        if dimension.id in old:
            yield from _changes_of(old[dimension.id], dimension)


def _changes_of(before: FrozenDimension, after: FrozenDimension) -> Iterator[Change]:
    for field in ("definition", "guidelines"):
        if getattr(before, field) != getattr(after, field):
            yield Change(f"{after.name}, {field}", getattr(before, field), getattr(after, field))
    for value in after.values:
        texts = [_text(each, value) for each in (before, after)]
        if texts[0] != texts[1]:
            yield Change(f"{after.name}, {value}", *texts)


def _text(dimension: FrozenDimension, value: int) -> str:
    point = dimension.point(value)
    return ": ".join(part for part in (point.label, point.description) if part) if point else ""
