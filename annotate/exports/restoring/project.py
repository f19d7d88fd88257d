"""Restores an export as a project, all of it or nothing."""

import logging
import math
from collections.abc import Mapping
from dataclasses import fields
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import DataError, IntegrityError, OperationalError, transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import DomainError
from annotate.core.guideline import DIMENSION_FIELDS, FrozenDimension, FrozenGuideline, FrozenPoint
from annotate.core.models import (
    Acknowledgement,
    ComparisonSide,
    Dimension,
    Dispute,
    DisputeEvent,
    DisputeRater,
    Document,
    Guideline,
    Item,
    ItemPart,
    Post,
    Project,
    Role,
    Round,
    ScalePoint,
    System,
    TextFormat,
    User,
    text_digest,
)
from annotate.core.rounds import seed_of_round
from annotate.disputes.commands.state import ask_raters
from annotate.disputes.queries.activity import last_activity
from annotate.exports.citation import Datasheet
from annotate.exports.restoring.archive import RESTORERS, ExportArchive, MisfitError, Restored, RestoredRows
from annotate.exports.restoring.ratings import (
    actor,
    restore_assignments,
    restore_outside_raters,
    restore_raters,
    restore_ratings,
)
from annotate.exports.tables.material import COMPARISONS, FROZEN_SETTINGS, PARTS, PROJECT, ROUND_FIELDS
from annotate.exports.tables.ratings import DISPUTE_EVENTS, DISPUTES, POSTS
from annotate.people.commands import add_member
from annotate.questions import KINDS

logger = logging.getLogger(__name__)

TEXTS_AT_ONCE = 500
POINT_FIELDS = frozenset(each.name for each in fields(FrozenPoint))


class RestoreRefusedError(DomainError):
    code = "restore_refused"


class RestoreFailedError(DomainError):
    """An error in Concord stopped the import of an export; the log has it."""

    code = "restore_failed"


def restore_export(*, archive: ExportArchive, admin: User | None) -> Project:
    """Create the project of an export, with its tables; docs/reference/export.md has the details.

    admin: the project's admin; without one, the project is invisible in browsers. Raises RestoreRefusedError
    if the short name is in use or the rows do not fit each other, and RestoreFailedError for a bug in
    Concord. Nothing is created then.
    """
    try:
        with transaction.atomic():
            return _restore(archive, admin)
    except (MisfitError, IntegrityError, DataError) as error:
        logger.info("An export was refused: %s", error)
        raise RestoreRefusedError(gettext("The tables of this export do not fit each other.")) from error
    # A DomainError has its own message, and the handler of faults answers for a busy database.
    except (DomainError, OperationalError):
        raise
    except Exception as error:
        logger.exception("An export could not be restored")
        says = gettext(
            "An error in Concord stopped the import ({error}) and nothing was imported. The log says more."
        )
        raise RestoreFailedError(says.format(error=type(error).__name__)) from error


def _restore(archive: ExportArchive, admin: User | None) -> Project:
    row = next(archive.rows("project"), None)
    if row is None:
        raise MisfitError("the table of the project is empty")
    if Project.objects.filter(slug=row["project"]).exists():
        says = gettext("There is a project “{project}” already; an export is imported where there is none.")
        raise RestoreRefusedError(says.format(project=row["project"]))
    try:
        datasheet = Datasheet.from_dict(row["datasheet"] or {}).to_dict()
    except (ValueError, AttributeError) as error:
        raise MisfitError("the datasheet has other fields") from error
    project = Project.objects.create(
        slug=row["project"], created_by=admin, datasheet=datasheet, **PROJECT.fields(row)
    )
    after = {"content_hash": archive.content_hash, "concord_version": archive.manifest["concord_version"]}
    record(project, "project.restored", project, after=after, by=admin)
    if admin:
        add_member(project=project, role=Role.ADMIN, user=admin)
    restored = Restored(project)
    _restore_guidelines(restored, archive)
    _restore_material(restored, archive)
    restore_raters(restored, archive)
    restore_outside_raters(restored, archive)
    read = (
        Acknowledgement(
            annotator=restored.raters[row["rater"]],
            guideline=restored.guidelines[row["guideline_version"]],
            at=row["at"],
        )
        for row in archive.rows("acknowledgements")
    )
    Acknowledgement.objects.bulk_create(read, TEXTS_AT_ONCE)  # in order, since the last one counts
    restore_assignments(restored, archive)
    restore_ratings(restored, archive)
    _restore_disputes(restored, archive)
    for restorer in RESTORERS.values():
        restorer(restored, archive)
    return project


def _restore_guidelines(restored: Restored, archive: ExportArchive) -> None:
    rows = groupby(archive.rows("guidelines"), key=itemgetter("round", "guideline_version"))
    versions = {key: list(found) for key, found in rows}
    # What no version has yet is newer than all of them, and stays without a version.
    newest_first = sorted(versions.items(), key=lambda each: each[0][1] or math.inf, reverse=True)
    for _, found in newest_first:
        for row in found:
            _restore_dimension(restored, row)
    # Dimensions exist by now, so each version can refer to them by their new keys.
    for (_, version), found in reversed(newest_first):
        if version is not None and version not in restored.guidelines:
            restored.guidelines[version] = _guideline(restored, version, found)
    for (number, version), found in versions.items():
        if number is not None and found[0]["in_force"]:
            restored.rounds[number] = Round.objects.create(
                project=restored.project,
                number=number,
                status=found[0]["status"],
                guideline=restored.guidelines[version],
                # The seed of a round follows from the project's seed, so the export does not store it.
                seed=seed_of_round(restored.project, number),
                **{name: found[0][name] for name in ROUND_FIELDS},
            )
    if versions:
        restored.project.guidelines = newest_first[0][1][0]["project_guidelines"]
        restored.project.save(update_fields=["guidelines"])


def _restore_dimension(restored: Restored, row: dict[str, Any]) -> None:
    """Create the dimension from its newest version; rows of older versions come later and are not needed."""
    if row["dimension"] in restored.dimensions:
        return
    if row["kind"] not in KINDS:
        raise MisfitError(f"this Concord has no questions of the kind {row['kind']!r:.40}")
    made = Dimension.objects.create(
        project=restored.project,
        key=row["dimension"],
        position=len(restored.dimensions) + 1,
        **{name: row[name] for name in DIMENSION_FIELDS},
    )
    ScalePoint.objects.bulk_create(ScalePoint(dimension=made, **point) for point in _points(row))
    restored.dimensions[made.key] = made


def _points(row: dict[str, Any]) -> list[Mapping[str, Any]]:
    points = row["points"] or []
    if not all(isinstance(point, dict) and point.keys() == POINT_FIELDS for point in points):
        raise MisfitError("the points of a scale have other fields")
    return list(points)


def _guideline(restored: Restored, version: int, rows: list[dict[str, Any]]) -> Guideline:
    frozen = FrozenGuideline(
        guidelines=rows[0]["project_guidelines"],
        **{name: rows[0][name] for name in FROZEN_SETTINGS},
        dimensions=tuple(
            FrozenDimension(
                id=restored.dimensions[row["dimension"]].pk,
                key=row["dimension"],
                points=tuple(FrozenPoint(**point) for point in _points(row)),
                **{name: row[name] for name in DIMENSION_FIELDS},
            )
            for row in rows
        ),
    )
    return Guideline.objects.create(
        project=restored.project,
        version=version,
        content=frozen.to_json(),
        digest=frozen.digest(),
        note=rows[0]["note"],
    )


def _restore_disputes(restored: Restored, archive: ExportArchive) -> None:
    disputes: RestoredRows[int, Dispute] = RestoredRows()
    for row in archive.rows("disputes"):
        disputes[row["dispute"]] = Dispute(
            round=restored.rounds[1],
            item_id=restored.item(row),
            dimension=restored.dimensions[row["dimension"]],
            active_at=row["last_changed_at"],
            **DISPUTES.fields(row),
        )
    Dispute.objects.bulk_create(disputes.values())
    Post.objects.bulk_create(
        Post(dispute=disputes[row["dispute"]], author=restored.raters[row["rater"]], **POSTS.fields(row))
        for row in archive.rows("posts")
    )
    DisputeEvent.objects.bulk_create(
        DisputeEvent(
            dispute=disputes[row["dispute"]],
            **(DISPUTE_EVENTS.fields(row) | {"actor": actor(restored, row["by"])}),
        )
        for row in archive.rows("dispute_events")
    )
    # Posts move the time of a dispute, and the export does not contain who is still asked for an answer.
    Dispute.objects.filter(round__project=restored.project).update(active_at=last_activity(restored.project))
    ask_raters(disputes.values())
    ended = DisputeRater.objects.filter(dispute__round__project=restored.project)
    ended.exclude(dispute__status=Dispute.Status.OPEN).update(since=None)


def _restore_material(restored: Restored, archive: ExportArchive) -> None:
    for key, rows in groupby(archive.rows("documents"), key=itemgetter("document")):
        found = list(rows)
        texts = [{"label": row["label"], "text": row["text"]} for row in found]
        # The digest is over labels and texts alone, and a plain part names no format, as in an import.
        parts = [
            part if row["format"] == TextFormat.PLAIN else {**part, "format": row["format"]}
            for part, row in zip(texts, found, strict=True)
        ]
        document = Document.objects.create(
            project=restored.project,
            key=key,
            title=found[0]["title"],
            parts=parts,
            digest=text_digest(texts),
            metadata=found[0].get("metadata", {}),  # exports of earlier versions have none
        )
        # Only its key stays in memory: a document may be long.
        restored.documents[key] = document.pk
    _restore_items(restored, archive)
    _restore_comparisons(restored, archive)
    pieces = (ItemPart(item_id=restored.item(row), **PARTS.fields(row)) for row in archive.rows("parts"))
    ItemPart.objects.bulk_create(pieces, TEXTS_AT_ONCE)


def _restore_comparisons(restored: Restored, archive: ExportArchive) -> None:
    """Restore the sides. Their outputs determine the comparison's digest, which sets the order of sides."""
    of_item = itemgetter("document", "system")
    for (document, _), found in groupby(archive.rows("comparisons"), key=of_item):
        rows = list(found)
        item = restored.item(rows[0])
        outputs = [restored.items[document, row["output_system"]] for row in rows]
        ComparisonSide.objects.bulk_create(
            ComparisonSide(item_id=item, output_id=output, **COMPARISONS.fields(row))
            for row, output in zip(rows, outputs, strict=True)
        )
        texts = dict(Item.objects.filter(pk__in=outputs).values_list("pk", "text"))
        Item.objects.filter(pk=item).update(digest=text_digest([texts[each] for each in outputs]))


def _restore_items(restored: Restored, archive: ExportArchive) -> None:
    systems: dict[str, int] = {}
    waiting: list[tuple[tuple[str, str], Item]] = []
    for row in archive.rows("items"):
        name, key = row["system"], row["document"]
        if name not in systems:
            made = System.objects.create(
                project=restored.project, name=name, compares=row["kind"] != Item.Kind.OUTPUT
            )
            systems[name] = made.pk
        item = Item(
            document_id=restored.documents[key],
            system_id=systems[name],
            kind=row["kind"],
            text=row["text"],
            digest=text_digest(row["text"]),
            format=row["format"],
            metadata=row.get("metadata", {}),
        )
        waiting.append(((key, name), item))
        # Outputs may be long, so they are written in batches, and only their keys stay in memory.
        if len(waiting) == TEXTS_AT_ONCE:
            _write_items(restored, waiting)
    _write_items(restored, waiting)


def _write_items(restored: Restored, waiting: list[tuple[tuple[str, str], Item]]) -> None:
    Item.objects.bulk_create([item for _, item in waiting])
    restored.items.update((unit, item.pk) for unit, item in waiting)
    restored.comparisons.update((item.pk, item.kind) for _, item in waiting if item.is_comparison)
    waiting.clear()
