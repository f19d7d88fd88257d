"""What is rated and how: the project, its guidelines, documents and items."""

from collections.abc import Iterator
from dataclasses import asdict

from annotate.core.guideline import DIMENSION_FIELDS, FrozenGuideline
from annotate.core.guidelines import current_guideline
from annotate.core.models import Document, Guideline, Item, Project
from annotate.core.rounds import rounds_of
from annotate.core.version import VERSION
from annotate.exports.registry import ExportPart, ExportTable, Row, kinds
from annotate.exports.tables.rows import TEXTS_AT_ONCE, ColumnRows
from annotate.setup.queries import versions_of


def _project(project: Project) -> Iterator[Row]:
    settings = {name: getattr(project, name) for name in _SETTINGS}
    yield {"concord_version": VERSION, "project": project.slug, **settings}


_SETTINGS = (
    *("name", "description", "raters_per_item", "dispute_threshold", "tolerance"),
    *("keep_reasons", "datasheet", "seed"),
)


def _guidelines(project: Project) -> Iterator[Row]:
    listed, rounds = set(), rounds_of(project)
    for number, round in sorted(rounds.items()):
        of_round = {"round": number, "status": round.status}
        frozen = {name: getattr(round, name) for name in _FROZEN_WITH_ROUND}
        for version in versions_of(round):
            listed.add(version.pk)
            in_force = version.pk == round.guideline_id
            yield from _dimensions_of_version(version, {**of_round, **frozen, "in_force": in_force})
    for version in project.guideline_versions.exclude(pk__in=listed).order_by("version"):
        yield from _dimensions_of_version(version, _OF_NO_ROUND)
    if not rounds:
        yield from _dimensions_in_preparation(project)


def _dimensions_in_preparation(project: Project) -> Iterator[Row]:
    """Yield the dimensions before Round I as they are, unless the newest version, of a run, has them so."""
    current, newest = current_guideline(project), project.guideline_versions.order_by("version").last()
    if newest is None or newest.digest != current.digest():
        yield from _dimensions(current, {**_OF_NO_ROUND, "guideline_version": None, "note": ""})


_FROZEN_WITH_ROUND = ("opened_at", "closed_at", "work_order", "dimension_order", "revises_documents")
_OF_NO_ROUND = {**dict.fromkeys(("round", "status", *_FROZEN_WITH_ROUND)), "in_force": False}


def _dimensions_of_version(version: Guideline, of_round: Row) -> Iterator[Row]:
    guideline = FrozenGuideline.from_json(version.content)
    return _dimensions(guideline, {**of_round, "guideline_version": version.version, "note": version.note})


def _dimensions(guideline: FrozenGuideline, of_version: Row) -> Iterator[Row]:
    for dimension in guideline.dimensions:
        yield {
            **of_version,
            "project_guidelines": guideline.guidelines,
            **{name: getattr(guideline, name) for name in _FROZEN_SETTINGS},
            "dimension": dimension.key,
            **{name: getattr(dimension, name) for name in DIMENSION_FIELDS},
            "points": [asdict(point) for point in dimension.points],
        }


_FROZEN_SETTINGS = ("raters_per_item", "dispute_threshold", "tolerance")


def _documents(project: Project) -> Iterator[Row]:
    documents = Document.objects.filter(project=project).order_by("pk")
    for document in documents.iterator(TEXTS_AT_ONCE):
        for number, part in enumerate(document.parts, start=1):
            yield {"document": document.key, "title": document.title, "part": number, **part}


def _items(project: Project) -> ColumnRows:
    items = Item.objects.filter(document__project=project).order_by("pk")
    columns = {"document": "document__key", "system": "system__name", "text": "text"}
    return ColumnRows(items, columns, at_once=TEXTS_AT_ONCE)


MATERIAL_TABLES = (
    ExportTable(
        "project",
        "the project's settings and Concord's version",
        ("concord_version", "project", *_SETTINGS),
        _project,
        kinds(integer="raters_per_item dispute_threshold tolerance seed", listed="keep_reasons datasheet"),
    ),
    ExportTable(
        "guidelines",
        "dimensions, scales and guidelines as each round froze them",
        (
            "round",
            "guideline_version",
            "in_force",
            "note",
            "status",
            *_FROZEN_WITH_ROUND,
            "project_guidelines",
            *_FROZEN_SETTINGS,
            "dimension",
            *DIMENSION_FIELDS,
            "points",
        ),
        _guidelines,
        kinds(
            integer=f"round guideline_version {' '.join(_FROZEN_SETTINGS)} scale_minimum scale_maximum",
            points="scale_step",
            flag="in_force revises_documents not_applicable",
            time="opened_at closed_at",
            listed="points",
        ),
    ),
    ExportTable(
        "documents",
        "the parts of the documents",
        ("document", "title", "part", "label", "text"),
        _documents,
        kinds(integer="part"),
        {"text": ExportPart.SOURCES},
    ),
    ExportTable(
        "items", "the texts that were rated, with their systems", ("document", "system", "text"), _items
    ),
)
