"""Sources of values that can be compared: people in a round, a judge or panel, people of other projects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db.models import Q
from django.utils.translation import gettext

from agreement.data import FloatArray
from agreement.pairs import mean_values
from annotate.core.access import projects_open_to_readers
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Addition, Assignment, Edition, Item, Project, Rating, Round
from annotate.core.rounds import last_round, rounds_of
from annotate.results.queries.reliability_data import rated_items
from annotate.results.queries.version import version_of_ratings
from judges.core.models import Judge
from judges.results.queries.comparison import NOTHING_FROZEN, guideline_of
from judges.results.queries.pairings import first_judge, measured_judges
from judges.results.queries.scores import material_of, samples_of, value_of_samples

Options = Sequence[tuple[str, str]]
Unit = tuple[str, str]
"""The key of a document and the name of a system."""
ROUND_ONE, FINAL, JUDGE, PROJECT = "round-1", "final", "judge-", "project-"
_DECIMALS = 12  # the same values added in another order differ behind these


@dataclass(frozen=True)
class ValueSource:
    """One value a unit on each dimension, with the texts that it is about.

    name: the same in every installation and language, for streams. values: by dimension key. texts: the
    digests of the document and of the output.
    """

    name: str
    label: str
    dimensions: Mapping[str, FrozenDimension]
    values: Mapping[str, Mapping[Unit, float]]
    texts: Mapping[Unit, tuple[str, str]]


@dataclass
class CommonUnits:
    """The units of a dimension with equal texts and a value of both sources, and the numbers of other units."""

    units: list[Unit] = field(default_factory=list)
    other_text: int = 0
    first_only: int = 0
    second_only: int = 0


def list_sources(project: Project) -> tuple[Options, Options]:
    """Return the project's own sources, and people of the related projects that all its readers may read.

    Raises NotReadyError if there are fewer than two. Twelve queries at most for a small family.
    """
    rounds = rounds_of(project)
    own = []
    if 1 in rounds:
        own.append((ROUND_ONE, gettext("people, Round I")))
    if 2 in rounds:
        own.append((FINAL, gettext("people, after Round II")))
    judges = measured_judges(project)
    usual = [first_judge(judges)] if judges else []
    for judge in (*usual, *(each for each in judges if each not in usual)):
        named = gettext("judge {name}") if judge.method != "panel" else gettext("panel {name}")
        own.append((f"{JUDGE}{judge.pk}", named.format(name=judge.name)))
    related = [
        (f"{PROJECT}{other.slug}", gettext("people, {project}").format(project=other.name))
        for other in projects_open_to_readers(project, find_family(project))
        if Round.objects.filter(project=other, number=1).exists()
    ]
    if len(own) + len(related) < 2:
        raise NotReadyError(
            gettext(
                "A comparison needs two sources of values: open a round, plan a run of judges, or make an "
                "addition or a new edition of this benchmark."
            )
        )
    return own, related


def find_family(project: Project) -> list[Project]:
    """Return the other projects that additions and editions connect with this one, by key."""
    found, new = {project.pk}, {project.pk}
    while new:
        additions = Addition.objects.filter(Q(project__in=new) | Q(benchmark__in=new)).order_by("pk")
        editions = Edition.objects.filter(Q(project__in=new) | Q(follows__in=new)).order_by("pk")
        pairs = (
            *additions.values_list("project", "benchmark"),
            *editions.values_list("project", "follows"),
        )
        new = {key for pair in pairs for key in pair} - found
        found |= new
    return list(Project.objects.filter(pk__in=found - {project.pk}).order_by("pk")) if len(found) > 1 else []


def version_of_sources(keys: Sequence[str]) -> Sequence[object]:
    """Return the version of the values in other projects; the page's own version has the project's."""
    slugs = sorted(key.removeprefix(PROJECT) for key in keys if key.startswith(PROJECT))
    others = Project.objects.filter(slug__in=slugs).order_by("pk")
    return [(other.pk, other.name, *version_of_ratings(other)) for other in others]


def read_sources(project: Project, keys: tuple[str, str], labels: Mapping[str, str]) -> list[ValueSource]:
    """Return both sources. Hidden gold items count only where they bridge two projects."""
    owners = [
        Project.objects.get(slug=key.removeprefix(PROJECT)) if key.startswith(PROJECT) else project
        for key in keys
    ]
    bridges = owners[0] != owners[1]
    found = []
    for key, owner in zip(keys, owners, strict=True):
        name, texts = key, _texts(owner, bridges=bridges)
        if key.startswith(JUDGE):
            judge = Judge.objects.get(project=owner, pk=int(key.removeprefix(JUDGE)))
            name = f"{JUDGE}{judge.name}"
            dimensions, values = _values_of_judge(judge)
        else:
            number = 1 if key == ROUND_ONE else 2
            dimensions, values = _values_of_people(owner, number, bridges=bridges)
        of_units: dict[str, dict[Unit, float]] = {}
        for dimension, item, value in values:
            if item in texts:
                of_units.setdefault(dimension, {})[texts[item][0]] = round(value, _DECIMALS)
        found.append(
            ValueSource(
                name, labels[key], {each.key: each for each in dimensions}, of_units, dict(texts.values())
            )
        )
    return found


def find_common_units(first: ValueSource, second: ValueSource, key: str) -> CommonUnits:
    """Return the units of a dimension that both sources have a value for, with equal texts, in order."""
    one, other = (source.values.get(key, {}) for source in (first, second))
    both = sorted(one.keys() & other.keys())
    equal = [unit for unit in both if first.texts[unit] == second.texts[unit]]
    return CommonUnits(equal, len(both) - len(equal), len(one.keys() - other), len(other.keys() - one))


def _texts(project: Project, *, bridges: bool) -> dict[int, tuple[Unit, tuple[str, str]]]:
    """Return the unit and the digests of each output by its key, gold items aside except bridging ones."""
    counted = Q(gold__isnull=True) | Q(gold__bridging__isnull=False) if bridges else Q(gold__isnull=True)
    items = Item.objects.filter(counted, document__project=project, kind=Item.Kind.OUTPUT).order_by("pk")
    rows = items.values_list("pk", "document__key", "system__name", "document__digest", "digest")
    return {item: ((document, system), (source, output)) for item, document, system, source, output in rows}


Values = Iterator[tuple[str, int, float]]
"""Dimension key, item and value."""


def _values_of_people(
    project: Project, number: int, *, bridges: bool
) -> tuple[Sequence[FrozenDimension], Values]:
    rounds = rounds_of(project)
    round = rounds.get(number) or rounds.get(1)
    if round is None:
        return NOTHING_FROZEN.scales, iter(())
    dimensions = guideline_of(project, round).scales

    def values() -> Values:
        rated = rated_items(round)
        for each in dimensions:
            own = rated[each.key]
            given = own.data.values
            # As of a judge's samples, except for ties: people have no first answer that could decide.
            means = _find_majority(given) if each.is_named else mean_values(given)
            for item, value in zip(own.items.tolist(), means.tolist(), strict=True):
                if not np.isnan(value):
                    yield each.key, item, value
        if bridges:
            yield from _bridging_values(project, dimensions)

    return dimensions, values()


def _bridging_values(project: Project, dimensions: Sequence[FrozenDimension]) -> Values:
    """Yield the means of bridging items, which raters meet among the hidden checks. One query."""
    given = Rating.objects.filter(
        assignment__round__project=project,
        assignment__plan=Assignment.Plan.GOLD,
        assignment__item__gold__bridging__isnull=False,
        assignment__annotator__counted=True,
    )
    found: dict[tuple[int, int], list[float]] = {}
    for dimension, item, value in given.order_by("pk").values_list("dimension", "assignment__item", "value"):
        if value is not None:
            found.setdefault((dimension, item), []).append(value)
    by_id = {each.id: each for each in dimensions}
    for (dimension, item), values in found.items():
        if each := by_id.get(dimension):
            column = np.array(values)[:, None]
            value = float((_find_majority(column) if each.is_named else mean_values(column))[0])
            if not np.isnan(value):
                yield each.key, item, value


def _find_majority(values: FloatArray) -> FloatArray:
    """Return (items,): the most frequent of the raters' categories (raters, items), NaN for a tie."""
    times = np.sum(values[:, None, :] == values[None, :, :], axis=1)
    most = times.max(axis=0, initial=0)
    found = np.take_along_axis(values, times.argmax(axis=0)[None], axis=0)[0] if len(values) else most
    tied = np.any((times == most) & (values != found), axis=0)
    return np.where((most > 0) & ~tied, found, np.nan)


def _values_of_judge(judge: Judge) -> tuple[Sequence[FrozenDimension], Values]:
    """Return a judge's values, without documents from which judges may learn."""
    material = material_of(judge.project, None, guideline_of(judge.project, last_round(judge.project)))
    samples = samples_of([judge], material)

    def values() -> Values:
        for each in material.dimensions:
            said = value_of_samples(each, samples[judge.pk, each.key].values)
            for item in np.flatnonzero(~np.isnan(said) & ~material.in_development):
                yield each.key, int(material.items[item]), float(said[item])

    return material.dimensions, values()
