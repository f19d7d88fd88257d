"""Sources of values that can be compared: people in a round, a judge or panel, people of other projects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Q
from django.utils.translation import gettext

from annotate.core.access import projects_open_to_readers
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import (
    Addition,
    Document,
    Edition,
    Membership,
    Project,
    Role,
    Round,
    Version,
    VersionPart,
)
from annotate.core.rounds import last_round, rounds_of
from annotate.results.queries.kept import version_of_ratings
from annotate.results.queries.reliability_data import DECIMALS, Unit, texts_of, values_of_people
from annotate.results.registry import Chosen
from judges.core.models import Judge
from judges.results.queries.pairings import first_judge, measured_judges
from judges.results.queries.scores import guideline_of, material_of, samples_of, value_of_samples

Options = Sequence[tuple[str, str]]
ROUND_ONE, FINAL, JUDGE, PROJECT, VERSION = "round-1", "final", "judge-", "project-", "version-"


@dataclass(frozen=True)
class ValueSource:
    """One value per unit on each dimension, with digests of the rated content.

    name: the same in every installation and language, for streams. values: by dimension key. texts: the
    digests of the document and of the output.
    """

    name: str
    label: str
    dimensions: Mapping[str, FrozenDimension]
    values: Mapping[str, Mapping[Unit, float]]
    texts: Mapping[Unit, tuple[str, str]]


def list_sources(project: Project) -> tuple[Options, Options]:
    """Return the project's own sources, and those of other projects that all its readers may read.

    Raises NotReadyError if there are fewer than two. Seventeen queries at most for a small family.
    """
    rounds = rounds_of(project)
    # The project's own sources: people, then judges with the usual one first.
    own = []
    if 1 in rounds:
        own.append((ROUND_ONE, gettext("people, Round I")))
    if 2 in rounds:
        own.append((FINAL, gettext("people, after Round II")))
    judges = measured_judges(project)
    # The first option of a parameter is its default.
    usual = [first_judge(judges)] if judges else []
    for judge in (*usual, *(each for each in judges if each not in usual)):
        named = gettext("judge {name}") if judge.method != "panel" else gettext("panel {name}")
        own.append((f"{JUDGE}{judge.pk}", named.format(name=judge.name)))
    # Related projects, only the ones that every reader of this project may read.
    others = projects_open_to_readers(
        project, [*find_family(project), *find_projects_with_documents(project)]
    )
    rated = set(Round.objects.filter(project__in=others, number=1).values_list("project", flat=True))
    # Stored versions with values, of this project and of the related ones.
    versions: dict[int, list[Version]] = {}
    with_values = Version.objects.filter(project__in=[project, *others], parts__isnull=False).distinct()
    for version in with_values.only("project", "major", "minor").order_by("major", "minor"):
        versions.setdefault(version.project_id, []).append(version)
    own += [
        (f"{VERSION}{each.number}", gettext("people, version {number}").format(number=each.number))
        for each in versions.get(project.pk, [])
    ]
    related = []
    for other in others:
        if other.pk in rated:
            label = gettext("people, {project}").format(project=other.name)
            related.append((f"{PROJECT}{other.slug}", label))
        for each in versions.get(other.pk, []):
            label = gettext("people, {project}, version {number}")
            key = f"{VERSION}{each.number}-{other.slug}"
            related.append((key, label.format(project=other.name, number=each.number)))
    if len(own) + len(related) < 2:
        raise NotReadyError(
            gettext(
                "A comparison needs two sources of values: open a round, plan a run of judges, or make a "
                "version, an addition or a new edition of this benchmark."
            )
        )
    return own, related


def find_family(project: Project) -> list[Project]:
    """Return the other projects that additions and editions connect with this one, by key."""
    found, new = {project.pk}, {project.pk}
    # An addition or an edition can have further ones, so the search goes on from each new project.
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


def find_projects_with_documents(project: Project) -> list[Project]:
    """Return projects outside the family that have a document of this project, with its key or its text.

    Only those in which one reader of this project may read results; others cannot be open to all readers.
    Two queries.
    """
    readers = [Role.ADMIN, Role.RESEARCHER]
    reader = project.memberships.filter(role__in=readers, active=True, user__isnull=False).order_by("pk")
    memberships = Membership.objects.filter(user__in=reader.values("user")[:1], role__in=readers, active=True)
    family = {project.pk, *(each.pk for each in find_family(project))}
    own = Document.objects.filter(project=project)
    # Subqueries that are read once: comparing each pair of documents took seconds for some thousands.
    shared = Document.objects.filter(Q(key__in=own.values("key")) | Q(digest__in=own.values("digest")))
    shared = shared.filter(project__in=memberships.values("project")).exclude(project__in=family)
    found = Project.objects.filter(pk__in=shared.values("project"), calibrates=None)
    return list(found.order_by("pk"))


def version_of_sources(_project: Project, chosen: Chosen) -> Sequence[object]:
    """Return the version of the values in other projects; the page's own version has the project's.

    Values of stored versions never change.
    """
    keys = (chosen["first"], chosen["second"])
    slugs = sorted(key.removeprefix(PROJECT) for key in keys if key.startswith(PROJECT))
    others = Project.objects.filter(slug__in=slugs).order_by("pk")
    return [(other.pk, other.name, *version_of_ratings(other)) for other in others]


def read_sources(project: Project, keys: tuple[str, str], labels: Mapping[str, str]) -> list[ValueSource]:
    """Return both sources. Hidden gold items count only where they bridge two projects.

    Units of two projects with equal texts are common even if their keys or system names differ.
    """
    # The project of each source; a version or project of another one has its slug in the key.
    owners = []
    for key in keys:
        # A number has no hyphen, so everything after the first one is the slug.
        slug = key.removeprefix(VERSION).partition("-")[2] if key.startswith(VERSION) else ""
        if key.startswith(PROJECT):
            slug = key.removeprefix(PROJECT)
        owners.append(Project.objects.get(slug=slug) if slug else project)
    # Bridging items have values in both projects; within one they are hidden gold items.
    bridges = owners[0] != owners[1]
    found = []
    for key, owner in zip(keys, owners, strict=True):
        if key.startswith(VERSION):
            found.append(_read_version(owner, key, labels[key]))
            continue
        name, texts = key, texts_of(owner, bridges=bridges)
        if key.startswith(JUDGE):
            judge = Judge.objects.get(project=owner, pk=int(key.removeprefix(JUDGE)))
            # By name: streams must not depend on ids, which differ in a restored project.
            name = f"{JUDGE}{judge.name}"
            # Without documents from which judges may learn.
            material = material_of(owner, None, guideline_of(owner, last_round(owner)))
            dimensions, samples = material.dimensions, samples_of([judge], material)
            of_judge = []
            for each in dimensions:
                judged = value_of_samples(each, samples[judge.pk, each.key].values)
                for index in np.flatnonzero(~np.isnan(judged) & ~material.in_development).tolist():
                    of_judge.append((each.key, int(material.items[index]), float(judged[index])))
            values = iter(of_judge)
        else:
            number = 1 if key == ROUND_ONE else 2
            dimensions, values = values_of_people(owner, number, bridges=bridges)
        of_units: dict[str, dict[Unit, float]] = {}
        for dimension, item, value in values:
            # Gold items have no texts here, except for the ones that bridge two projects.
            if item in texts:
                of_units.setdefault(dimension, {})[texts[item][0]] = round(value, DECIMALS)
        found.append(
            ValueSource(
                name, labels[key], {each.key: each for each in dimensions}, of_units, dict(texts.values())
            )
        )
    # Another project may use other keys and system names for the same texts.
    return [found[0], _rename_units(found[1], found[0])] if bridges else found


def _read_version(owner: Project, key: str, label: str) -> ValueSource:
    """Return the values that a version keeps, with those of its additions. Three queries."""
    number = key.removeprefix(VERSION).partition("-")[0]
    major, minor = map(int, number.split("."))
    parts = VersionPart.objects.filter(version__project=owner, version__major=major, version__minor=minor)
    values: dict[str, dict[Unit, float]] = {}
    texts: dict[Unit, tuple[str, str]] = {}
    for part in parts.order_by("pk"):
        for dimension, rows in part.values.items():
            for document, system, source, output, value in rows:
                values.setdefault(dimension, {})[document, system] = value
                texts[document, system] = (source, output)
    dimensions = guideline_of(owner, last_round(owner)).scales
    return ValueSource(key, label, {each.key: each for each in dimensions}, values, texts)


def _rename_units(source: ValueSource, to: ValueSource) -> ValueSource:
    """Return a source with the unit names of another one, where only one unit of each has the same texts."""

    def by_texts(each: ValueSource) -> dict[tuple[str, str], list[Unit]]:
        found: dict[tuple[str, str], list[Unit]] = {}
        for unit, texts in each.texts.items():
            found.setdefault(texts, []).append(unit)
        return found

    theirs = by_texts(to)
    names = {
        units[0]: theirs[texts][0]
        for texts, units in by_texts(source).items()
        if len(units) == 1 and len(theirs.get(texts, ())) == 1
    }
    # A unit keeps its name if one of the two names exists in both sources: two units would become one.
    names = {unit: name for unit, name in names.items() if unit not in to.texts and name not in source.texts}
    return replace(
        source,
        values={
            key: {names.get(unit, unit): value for unit, value in own.items()}
            for key, own in source.values.items()
        },
        texts={names.get(unit, unit): texts for unit, texts in source.texts.items()},
    )


def find_common_units(
    first: ValueSource, second: ValueSource, key: str
) -> tuple[list[Unit], tuple[int, int, int]]:
    """Return the units of a dimension with equal content and values of both sources, in order.

    Also the numbers of others: with another text, of the first source alone, and of the second.
    """
    one, other = (source.values.get(key, {}) for source in (first, second))
    # Units with equal names count only if their texts are equal, too.
    both = sorted(one.keys() & other.keys())
    equal = [unit for unit in both if first.texts[unit] == second.texts[unit]]
    return equal, (len(both) - len(equal), len(one.keys() - other), len(other.keys() - one))
