"""The material and the questions: the project, its guidelines, documents and items."""

from collections.abc import Iterator
from dataclasses import asdict

from annotate.core.guideline import DIMENSION_FIELDS, FrozenGuideline
from annotate.core.guidelines import current_guideline
from annotate.core.models import ComparisonSide, Document, Guideline, Item, ItemPart, Project, TextFormat
from annotate.core.rounds import rounds_of
from annotate.core.version import VERSION
from annotate.exports.registry import TEXTS_AT_ONCE, ColumnRows, Row, own_table
from annotate.setup.queries import versions_of

ROUND_FIELDS = ("opened_at", "closed_at", "work_order", "dimension_order")
FROZEN_SETTINGS = ("raters_per_item", "dispute_threshold", "tolerance")


def _project(project: Project) -> Iterator[Row]:
    settings = {name: getattr(project, source) for name, source in PROJECT.sources.items()}
    of_export = {"concord_version": VERSION, "project": project.slug, "datasheet": project.datasheet}
    yield {**of_export, **settings}


def _guidelines(project: Project) -> Iterator[Row]:
    listed, rounds = set(), rounds_of(project)
    for number, round in sorted(rounds.items()):
        of_round = {"round": number, "status": round.status}
        frozen = {name: getattr(round, name) for name in ROUND_FIELDS}
        for version in versions_of(round):
            listed.add(version.pk)
            in_force = version.pk == round.guideline_id
            yield from _dimensions_of_version(version, {**of_round, **frozen, "in_force": in_force})
    for version in project.guideline_versions.exclude(pk__in=listed).order_by("version"):
        yield from _dimensions_of_version(version, _OF_NO_ROUND)
    if not rounds:
        # The current dimensions before Round I, unless the newest version, which a run froze, equals them.
        current, newest = current_guideline(project), project.guideline_versions.order_by("version").last()
        if newest is None or newest.digest != current.digest():
            yield from _dimensions(current, {**_OF_NO_ROUND, "guideline_version": None, "note": ""})


_OF_NO_ROUND = {**dict.fromkeys(("round", "status", *ROUND_FIELDS)), "in_force": False}


def _dimensions_of_version(version: Guideline, of_round: Row) -> Iterator[Row]:
    guideline = FrozenGuideline.from_json(version.content)
    return _dimensions(guideline, {**of_round, "guideline_version": version.version, "note": version.note})


def _dimensions(guideline: FrozenGuideline, of_version: Row) -> Iterator[Row]:
    for dimension in guideline.dimensions:
        yield {
            **of_version,
            "project_guidelines": guideline.guidelines,
            **{name: getattr(guideline, name) for name in FROZEN_SETTINGS},
            "dimension": dimension.key,
            **{name: getattr(dimension, name) for name in DIMENSION_FIELDS},
            "points": [asdict(point) for point in dimension.points],
        }


def _documents(project: Project) -> Iterator[Row]:
    documents = Document.objects.filter(project=project).order_by("pk")
    for document in documents.iterator(TEXTS_AT_ONCE):
        for number, part in enumerate(document.parts, start=1):
            named = {"document": document.key, "title": document.title, "metadata": document.metadata}
            # A plain part names no format, so the default comes first and the part may replace it.
            yield {**named, "part": number, "format": TextFormat.PLAIN.value, **part}


def _items(project: Project) -> ColumnRows:
    items = Item.objects.filter(document__project=project).order_by("pk")
    return ColumnRows(items, ITEMS.sources, at_once=TEXTS_AT_ONCE)


def _comparisons(project: Project) -> ColumnRows:
    sides = ComparisonSide.objects.filter(item__document__project=project).order_by("item", "position")
    return ColumnRows(sides, COMPARISONS.sources)


def _parts(project: Project) -> ColumnRows:
    parts = ItemPart.objects.filter(item__document__project=project).order_by("item", "position")
    return ColumnRows(parts, PARTS.sources)


PROJECT = own_table("project", "the project's settings and Concord's version", _project)
GUIDELINES = own_table(
    "guidelines",
    "dimensions, scales and guidelines as each round froze them; before Round I the current ones",
    _guidelines,
)
DOCUMENTS = own_table("documents", "the parts of the documents", _documents)
ITEMS = own_table("items", "the rated outputs and comparisons, with their systems", _items)
COMPARISONS = own_table("comparisons", "the outputs that each comparison shows", _comparisons)
PARTS = own_table("parts", "the parts of items that are judged one by one", _parts)
