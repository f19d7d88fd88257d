from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import gettext

from agreement import CrossedModelError, SystemDifference, crossed_differences
from agreement.data import FloatArray
from agreement.standings import PanelOffset, SystemStanding, compare_panels, panel_mean
from annotate.additions.queries import severity_of
from annotate.core.errors import UndefinedResultError
from annotate.core.guideline import FrozenDimension
from annotate.core.metadata import metadata_text
from annotate.core.models import Addition, Document, Item, Project, Rating, Round
from annotate.leaderboard.standings import (
    ALL,
    CORRECTED,
    JUDGED,
    PEOPLE,
    Board,
    Effort,
    Leaderboard,
    ListedSystem,
)
from annotate.results.queries.by_system import mean_over_raters, unequally_drawn
from annotate.results.queries.material import RatedRound, items_of, rated_rounds

MOST_METADATA_VALUES = 20
SECONDS_OF_AN_HOUR = 3600


@dataclass(frozen=True, eq=False)
class _RatedSystems:
    """A project's systems with the ratings by its raters.

    values: by dimension key (raters, documents, systems), NaN for gaps. scores: (documents, systems), the
    mean over raters, or the scores of a judge for the systems of `corrected`, also by key. offsets: by key.
    """

    project: Project
    addition: int | None
    rated: RatedRound
    systems: Sequence[str]
    values: Mapping[str, FloatArray]
    scores: Mapping[str, FloatArray]
    corrected: Mapping[str, frozenset[str]]
    offsets: Mapping[str, PanelOffset] = field(default_factory=dict)


def finished_additions(project: Project) -> list[Addition]:
    """Return the additions whose Round I is closed and that have no open round, in order. One query."""
    working = Round.objects.filter(Q(status=Round.Status.OPEN) | Q(is_unfinished=True))
    return list(
        project.additions.filter(project__rounds__number=1, project__rounds__status=Round.Status.CLOSED)
        .exclude(project__in=working.values("project"))
        .select_related("project")
        .order_by("number")
        .distinct()
    )


def documents_with_outputs(project: Project) -> QuerySet[Document]:
    """Return the documents for which a new system needs an output, in order."""
    items = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT, gold=None)
    return Document.objects.filter(project=project, pk__in=items.values("document")).order_by("key")


def leaderboard_of(project: Project) -> Leaderboard:
    """Return the standings by dimension and, if scales agree, over all dimensions.

    People's means are the means at the end of the last round. An addition counts once its Round I is closed.
    Named categories have no means, so their dimensions have no board. Raises UndefinedResultError before
    Round I.
    """
    documents = dict(Document.objects.filter(project=project).order_by("key").values_list("key", "metadata"))
    position_of = {key: position for position, key in enumerate(documents)}
    own = _panel_of(project, None, position_of)
    if own is None:
        raise UndefinedResultError(gettext("A leaderboard needs ratings. Open Round I and collect some."))
    dimensions = [each for each in own.rated.dimensions if not each.is_named]
    panels = [own]
    # Raters of an addition are another panel, whose severity differs.
    for addition in finished_additions(project):
        panel = _panel_of(addition.project, addition.number, position_of, _offsets_of(addition))
        panels.extend([panel] if panel else [])
    labels = _metadata_labels(documents)
    boards = [_board(panels, each.key, each.name, [each], labels) for each in dimensions]
    # Means of several dimensions can be averaged only on one scale.
    scales = {(each.scale_minimum, each.scale_maximum) for each in dimensions}
    if len(dimensions) > 1 and len(scales) == 1:
        boards.append(_board(panels, ALL, gettext("All dimensions"), dimensions, labels))
    return Leaderboard(
        boards, [_part_of(each) for each in panels], len(documents), _notes(panels, dimensions)
    )


def _notes(panels: Sequence[_RatedSystems], dimensions: Sequence[FrozenDimension]) -> list[str]:
    notes = [] if dimensions else [gettext("Named categories have no means, so systems have none.")]
    for panel in panels:
        unequal = unequally_drawn(panel.rated, items_of(panel.project))
        # Scores that a judge completes are an unbiased estimate, so they need no caution.
        named = [
            each.name for each in dimensions if unequal.get(each.key) and each.key not in panel.corrected
        ]
        if not named:
            continue
        says = (
            gettext(
                "{names}: people rated units that were chosen with different probabilities, so a mean may be "
                "too high or too low."
            )
            if panel.addition is None
            else gettext(
                "{names} in addition {number}: people rated units that were chosen with different "
                "probabilities, so a mean may be too high or too low."
            )
        )
        notes.append(says.format(names=", ".join(named), number=panel.addition))
    # Panels may have ended in different rounds.
    if len({each.rated.round.is_independent for each in panels}) > 1:
        notes.append(
            gettext(
                "Some values follow a discussion and others do not, because not every addition has a Round "
                "II. Severity is that of Round I."
            )
        )
    return notes


def _panel_of(
    project: Project,
    addition: int | None,
    position_of: Mapping[str, int],
    offsets: Mapping[str, PanelOffset] | None = None,
) -> _RatedSystems | None:
    """Return a project's systems on the benchmark's documents, None before Round I. Seven queries."""
    rounds = rated_rounds(project, "documents")
    if not rounds:
        return None
    rated, items = rounds[-1], items_of(project)
    systems = sorted({items.systems[item] for item in items.counted})
    column_of = {system: column for column, system in enumerate(systems)}

    def cell_of(item: int) -> tuple[int, int] | None:
        # Copies that link panels are gold items, and a document of an addition may be new.
        document = position_of.get(items.documents[item])
        return None if item in items.gold or document is None else (document, column_of[items.systems[item]])

    judged: dict[str, Mapping[int, float]] = {}
    for source in JUDGED.values():
        judged.update(source.scores(project))
    corrected = {key: frozenset(items.systems[item] for item in own) for key, own in judged.items()}
    all_values, scores = {}, {}
    for dimension in rated.dimensions:
        if dimension.is_named:
            continue
        own = rated.rated[dimension.key]
        values = np.full((len(own.data.values), len(position_of), len(systems)), np.nan)
        for at, item in enumerate(own.items.tolist()):
            if cell := cell_of(item):
                values[:, *cell] = own.data.values[:, at]
        table = mean_over_raters(values)
        # Items without such scores, such as documents in development, are not part of the estimate.
        table[:, [column_of[each] for each in corrected.get(dimension.key, ()) if each in column_of]] = np.nan
        for item, score in judged.get(dimension.key, {}).items():
            if cell := cell_of(item):
                table[cell] = score
        all_values[dimension.key], scores[dimension.key] = values, table
    return _RatedSystems(project, addition, rated, systems, all_values, scores, corrected, offsets or {})


def _offsets_of(addition: Addition) -> Mapping[str, PanelOffset]:
    """Return the severity difference between the addition's raters and the first raters, by dimension."""
    found = {}
    for key, bridge in severity_of(addition).items():
        if bridge.offset is not None and bridge.offset.interval is not None:
            interval = bridge.offset.interval
            found[key] = PanelOffset(bridge.offset.value, (interval.high - interval.low) / 2)
    return found


def _metadata_labels(documents: Mapping[str, Mapping[str, object]]) -> dict[str, Sequence[str | None]]:
    """Return by name of metadata its value on each document, without names with one value or very many."""
    names = sorted({name for metadata in documents.values() for name in metadata})
    found: dict[str, Sequence[str | None]] = {}
    for name in names:
        labels = [
            metadata_text(metadata[name]) if metadata.get(name) is not None else None
            for metadata in documents.values()
        ]
        if 1 < len({each for each in labels if each is not None}) <= MOST_METADATA_VALUES:
            found[name] = labels
    return found


def _board(
    panels: Sequence[_RatedSystems],
    key: str,
    name: str,
    dimensions: Sequence[FrozenDimension],
    labels: Mapping[str, Sequence[str | None]],
) -> Board:
    """Return the standings on the mean of these dimensions, which have one scale."""
    of_system = [(panel, index) for panel in panels for index in range(len(panel.systems))]
    names = [panel.systems[index] for panel, index in of_system]
    columns = [
        np.mean([_scores(panel, each.key)[:, index] for each in dimensions], axis=0)
        for panel, index in of_system
    ]
    scores = np.column_stack(columns) if columns else np.empty((0, 0))
    offsets = [_offset(panel, dimensions) for panel in panels]
    within: dict[tuple[str, str], SystemDifference] = {}
    # Only systems of panels with a known severity are compared, so only their pairs need correction.
    compared = sum(
        len(panel.systems) for panel, offset in zip(panels, offsets, strict=True) if offset.is_known
    )
    for panel in panels:
        within.update(_differences_within(panel, dimensions, compared * (compared - 1) // 2))
    scale = float(dimensions[0].scale_minimum), float(dimensions[0].scale_maximum)
    positions = [panels.index(panel) for panel, _ in of_system]
    facts: Mapping[str, dict[str, Any]] = {
        system: {
            "ratings": sum(
                int((~np.isnan(panel.values[each.key][:, :, index])).sum())
                for each in dimensions
                if each.key in panel.values
            ),
            "source": CORRECTED
            if any(system in panel.corrected.get(each.key, ()) for each in dimensions)
            else PEOPLE,
            "addition": panel.addition,
            "severity_correction": 0.0 - value  # not -0
            if panel.addition and (value := offsets[at].value) is not None
            else None,
        }
        for system, (panel, index), at in zip(names, of_system, positions, strict=True)
    }

    # A corrected mean may be beyond the scale, so its interval is not cut there.
    corrected = {system for system, own in facts.items() if own["source"] == CORRECTED}

    def list_systems(standings: Sequence[SystemStanding]) -> list[ListedSystem]:
        return [ListedSystem(**vars(each), **facts[each.system]) for each in standings]

    def means(chosen: FloatArray) -> list[ListedSystem]:
        found = [
            panel_mean(
                chosen[:, index],
                names[index],
                scale,
                offsets[at],
                is_corrected=names[index] in corrected,
            )
            for index, at in enumerate(positions)
        ]
        return list_systems(
            sorted(found, key=lambda each: (each.mean is None, -(each.mean or 0.0), each.system))
        )

    return Board(
        key=key,
        name=name,
        definition=dimensions[0].definition if key != ALL else "",
        least=scale[0],
        most=scale[1],
        systems=list_systems(
            compare_panels(scores, names, scale, positions, offsets, within=within, corrected=corrected)
        ),
        values={
            column: {
                value: means(scores[[label == value for label in own]])
                for value in sorted({each for each in own if each is not None})
            }
            for column, own in labels.items()
        },
    )


def _differences_within(
    panel: _RatedSystems, dimensions: Sequence[FrozenDimension], tests: int
) -> dict[tuple[str, str], SystemDifference]:
    """Return a panel's pairs by the crossed model, with raters as a sample; empty if it cannot be fitted.

    For several dimensions each rater's mean counts. tests: the number of pairs that simultaneous intervals
    cover.
    """
    keys = [each.key for each in dimensions]
    # The crossed model needs the ratings of raters, and corrected systems have a judge's scores.
    if panel.corrected.keys() & set(keys) or not set(keys) <= set(panel.values):
        return {}
    values = np.mean([panel.values[key] for key in keys], axis=0)
    # Without the documents that only other panels rated.
    values = values[:, ~np.isnan(values).all(axis=(0, 2)), :]
    try:
        found = crossed_differences(values, panel.systems, tests=tests)
    except CrossedModelError:
        return {}
    return {(each.first, each.second): each for each in found.differences}


def _scores(panel: _RatedSystems, key: str) -> FloatArray:
    if key in panel.scores:
        return panel.scores[key]
    shape = next(iter(panel.scores.values())).shape if panel.scores else (0, len(panel.systems))
    return np.full(shape, np.nan)


def _offset(panel: _RatedSystems, dimensions: Sequence[FrozenDimension]) -> PanelOffset:
    """Return the mean offset on these dimensions, with the longest possible interval.

    The same raters err on all of them, so errors may correlate: reaches are averaged, not their squares.
    """
    if panel.addition is None:
        return PanelOffset()
    own = [panel.offsets.get(each.key, PanelOffset(None, None)) for each in dimensions]
    if not all(each.is_known for each in own):
        return PanelOffset(None, None)
    return PanelOffset(
        sum(each.value or 0.0 for each in own) / len(own), sum(each.reach or 0.0 for each in own) / len(own)
    )


def _part_of(panel: _RatedSystems) -> Effort:
    """Return the hours and money of a panel. Three queries."""
    ratings = Rating.objects.filter(assignment__round__project=panel.project)
    found = ratings.aggregate(
        seconds=Sum("active_seconds"), raters=Count("assignment__annotator", distinct=True)
    )
    money = sum((each.money(panel.project) for each in JUDGED.values()), Decimal(0))
    hours = round((found["seconds"] or 0) / SECONDS_OF_AN_HOUR, 2)
    return Effort(panel.addition, list(panel.systems), found["raters"], hours, f"{money:.2f}")
