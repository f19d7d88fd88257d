"""The tables of an export, each streamed row by row; annotators appear under their pseudonyms only."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from statistics import fmean
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.models import (
    AssignedUnit,
    Assignment,
    Dispute,
    DisputeEvent,
    Document,
    Item,
    MeasurementLevel,
    Membership,
    Post,
    Project,
    Rating,
    RatingChange,
    Role,
    Round,
)
from annotate.queries.rounds import round_one, rounds_of
from annotate.queries.wording import versions_of
from annotate.version import VERSION

AT_ONCE = 2000
TEXTS_AT_ONCE = 50  # a document or an item may be a whole book
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A table of the export: its columns in order, and what yields its rows for a project."""

    name: str
    says: str
    columns: tuple[str, ...]
    rows: Callable[[Project], Iterable[Row]]


UNIT = ("document", "system", "dimension")


def _project(project: Project) -> Iterator[Row]:
    yield {
        "concord_version": VERSION,
        "project": project.slug,
        "name": project.name,
        "description": project.description,
        "raters_per_item": project.raters_per_item,
        "dispute_threshold": project.dispute_threshold,
        "tolerance": project.tolerance,
        "seed": project.seed,
    }


def _guidelines(project: Project) -> Iterator[Row]:
    for number, round in sorted(rounds_of(project).items()):
        for version in versions_of(round):
            guideline = FrozenGuideline.from_json(version.content)
            for dimension in guideline.dimensions:
                yield {
                    "round": number,
                    "guideline_version": version.version,
                    "in_force": version.pk == round.guideline_id,
                    "note": version.note,
                    "status": round.status,
                    "opened_at": round.opened_at,
                    "closed_at": round.closed_at,
                    "project_guidelines": guideline.guidelines,
                    "dimension": dimension.key,
                    **{name: getattr(dimension, name) for name in _DIMENSION},
                    "points": [asdict(point) for point in dimension.points],
                }


_DIMENSION = (
    "name",
    "definition",
    "guidelines",
    "scale_minimum",
    "scale_maximum",
    "measurement_level",
    "not_applicable",
)


def _documents(project: Project) -> Iterator[Row]:
    documents = Document.objects.filter(project=project).order_by("pk")
    for document in documents.iterator(TEXTS_AT_ONCE):
        for number, part in enumerate(document.parts, start=1):
            yield {"document": document.key, "title": document.title, "part": number, **part}


def _items(project: Project) -> Iterator[Row]:
    items = Item.objects.filter(document__project=project).order_by("document", "pk")
    columns = {"document": "document__key", "system": "system__name", "text": "text"}
    return _named(items, columns, at_once=TEXTS_AT_ONCE)


_IN_ROUNDS = {"assignment__round__number__lt": Round.CHECKS}  # hidden checks are no ratings of a round
_RATER = "assignment__annotator__alias"
_OF_RATING = {
    "document": "assignment__item__document__key",
    "system": "assignment__item__system__name",
    "dimension": "dimension__key",
    "rater": _RATER,
    "round": "assignment__round__number",
}


def _ratings(project: Project) -> Iterator[Row]:
    ratings = Rating.objects.filter(assignment__round__project=project, **_IN_ROUNDS)
    in_order = ratings.order_by("assignment__round__number", "assignment__item", "dimension__position", "pk")
    units = AssignedUnit.objects.filter(assignment=OuterRef("assignment"), dimension=OuterRef("dimension"))
    probability = Coalesce(
        Subquery(units.values("inclusion_probability")), F("assignment__inclusion_probability")
    )
    return _with_rater_names(_named(in_order.annotate(probability=probability), _RATINGS))


_RATINGS = {
    **_OF_RATING,
    "value": "value",
    "unsure": "unsure",
    "cannot_rate": "cannot_rate",
    "not_applicable": "not_applicable",
    "counted": "assignment__annotator__counted",
    "comment": "comment",
    "active_seconds": "active_seconds",
    "revision": "revision",
    "guideline_version": "guideline__version",
    "first_saved_at": "created_at",
    "last_saved_at": "updated_at",
    "plan": "assignment__plan",
    "plan_origin": "assignment__origin",
    "plan_seed": "assignment__seed",
    "inclusion_probability": "probability",
}


def _assignments(project: Project) -> Iterator[Row]:
    round = round_one(project)
    if round is None:
        return
    asked = FrozenGuideline.from_json(round.guideline.content).dimensions
    places = Assignment.objects.filter(round=round).order_by("item", "slot")
    named = places.select_related("item__document", "item__system", "annotator")
    light = named.defer("item__text", "item__document__parts").prefetch_related("units", "ratings")
    for place in light.iterator(AT_ONCE):
        units = {unit.dimension_id: unit.inclusion_probability for unit in place.units.all()}
        answers = {rating.dimension_id: rating for rating in place.ratings.all()}
        for dimension in asked:
            if not place.partial or dimension.id in units:
                probability = units.get(dimension.id, place.inclusion_probability)
                yield _assigned_unit(place, dimension, probability, answers.get(dimension.id))


def _assigned_unit(
    place: Assignment, dimension: FrozenDimension, probability: float | None, rating: Rating | None
) -> Row:
    answer = "missing"
    if rating is not None and rating.is_answered:
        answer = next((why for why in ("cannot_rate", "not_applicable") if getattr(rating, why)), "rated")
    return {
        "document": place.item.document.key,
        "system": place.item.system.name,
        "dimension": dimension.key,
        "place": place.slot + 1,
        "rater": place.annotator.rater_name if place.annotator else None,
        "plan": place.plan,
        "plan_origin": place.origin,
        "plan_seed": place.seed,
        "inclusion_probability": probability,
        "answer": answer,
    }


_ASSIGNMENTS = (
    *UNIT,
    "place",
    "rater",
    "plan",
    "plan_origin",
    "plan_seed",
    "inclusion_probability",
    "answer",
)


def _final_values(project: Project) -> Iterator[Row]:
    disputes, otherwise = _disputed_units(project), _status_without_dispute(project)
    ratings = Rating.objects.filter(assignment__round__project=project, **_IN_ROUNDS).order_by(
        "assignment__item",
        "dimension__position",
        "dimension",
        "assignment__round__number",
        "assignment__annotator__alias",
    )
    needed = {
        **_OF_RATING,
        "value": "value",
        "item_id": "assignment__item",
        "dimension_id": "dimension",
        "level": "dimension__measurement_level",
        "counted": "assignment__annotator__counted",
    }
    rows = _named(ratings, needed)
    for unit, group in groupby(rows, key=itemgetter("item_id", "dimension_id")):
        given = list(group)
        status, adjudicated = disputes.get(unit, (otherwise, None))
        counted = [row for row in given if row["counted"] and row["value"] is not None]
        last = {f"Rater {row['rater']}": row["value"] for row in counted}
        mean = fmean(last.values()) if last and given[0]["level"] != MeasurementLevel.NOMINAL else None
        yield {
            **{name: given[0][name] for name in UNIT},
            "status": status,
            "values": last,
            "mean": mean,
            "adjudicated_value": adjudicated,
            "final_value": _final_value(status, adjudicated, mean, set(last.values())),
        }


def _disputed_units(project: Project) -> dict[tuple[int, int], tuple[str, int | None]]:
    disputes = Dispute.objects.filter(round__project=project)
    found = disputes.values_list("item", "dimension", "status", "adjudicated_value")
    return {(item, dimension): (status, value) for item, dimension, status, value in found.iterator(AT_ONCE)}


def _status_without_dispute(project: Project) -> str:
    # Which units are disputed is only known once Round I is closed.
    round_one = Round.objects.filter(project=project, number=1)
    return "round_one_open" if round_one.filter(status=Round.Status.OPEN).exists() else _UNDISPUTED


_UNDISPUTED = "undisputed"


def _final_value(status: str, adjudicated: int | None, mean: float | None, values: set[int]) -> float | None:
    if status == Dispute.Status.ADJUDICATED:
        return adjudicated
    if status not in (_UNDISPUTED, Dispute.Status.SETTLED):
        return None  # the values have not met, or may yet change
    # Categories have no mean: a nominal unit comes to the one value that all hold.
    return mean if mean is not None or len(values) != 1 else values.pop()


_OF_DISPUTE = {
    "dispute": "dispute__number",
    "document": "dispute__item__document__key",
    "system": "dispute__item__system__name",
    "dimension": "dispute__dimension__key",
}


def _disputes(project: Project) -> Iterator[Row]:
    return _named(Dispute.objects.filter(round__project=project).order_by("number"), _DISPUTES)


_DISPUTES = {
    "dispute": "number",
    "document": "item__document__key",
    "system": "item__system__name",
    "dimension": "dimension__key",
    "spread": "spread",
    "threshold": "threshold",
    "tolerance": "tolerance",
    "status": "status",
    "adjudicated_value": "adjudicated_value",
    "last_changed_at": "updated_at",
}


def _posts(project: Project) -> Iterator[Row]:
    posts = Post.objects.filter(dispute__round__project=project).order_by("dispute__number", "at", "pk")
    return _with_rater_names(_named(posts, _POSTS))


_POSTS = {**_OF_DISPUTE, "rater": "author__alias", "at": "at", "text": "text"}


def _dispute_events(project: Project) -> Iterator[Row]:
    events = DisputeEvent.objects.filter(dispute__round__project=project)
    rows = _named(events.order_by("dispute__number", "at", "pk"), _DISPUTE_EVENTS)
    return _with_actors(rows, project, of="event", not_by_raters=_BY_ADMINS)


_DISPUTE_EVENTS = {
    **_OF_DISPUTE,
    "at": "at",
    "event": "kind",
    "value": "value",
    "note": "note",
    "by": "actor",
}
_BY_ADMINS = {
    DisputeEvent.Kind.OPENED,
    DisputeEvent.Kind.ADJUDICATED,
    DisputeEvent.Kind.LEFT_OPEN,
    DisputeEvent.Kind.RESUMED,
}


def _history(project: Project) -> Iterator[Row]:
    changes = RatingChange.objects.filter(
        rating__assignment__round__project=project, rating__assignment__round__number__lt=Round.CHECKS
    )
    rows = _named(changes.order_by("rating", "revision"), _HISTORY)
    imported = {RatingChange.Cause.IMPORTED}
    return _with_actors(_with_rater_names(rows), project, of="cause", not_by_raters=imported)


_HISTORY = {
    **{name: f"rating__{path}" for name, path in _OF_RATING.items()},
    "revision": "revision",
    "at": "at",
    "cause": "cause",
    "value_before": "value_before",
    "value_after": "value_after",
    "unsure": "unsure",
    "cannot_rate": "cannot_rate",
    "not_applicable": "not_applicable",
    "comment": "comment",
    "guideline_version": "guideline__version",
    "by": "actor",
}


def _named(
    rows: "QuerySet[Any, Any]", columns: Mapping[str, str], *, at_once: int = AT_ONCE
) -> Iterator[dict[str, Any]]:
    names = tuple(columns)
    for values in rows.values_list(*(F(path) for path in columns.values())).iterator(at_once):
        yield dict(zip(names, values, strict=True))


def _with_rater_names(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        row["rater"] = f"Rater {row['rater']}"
        yield row


def _with_actors(
    rows: Iterable[dict[str, Any]], project: Project, *, of: str, not_by_raters: Set[str]
) -> Iterator[dict[str, Any]]:
    # Who rates and administers is "admin" in what admins do, or the export would tell who this rater is.
    raters = Membership.objects.filter(project=project, role=Role.ANNOTATOR, user__isnull=False)
    names = {place.user_id: place.rater_name for place in raters}
    for row in rows:
        if row["by"] is not None:
            row["by"] = "admin" if row[of] in not_by_raters else names.get(row["by"], "admin")
        yield row


TABLES = {
    table.name: table
    for table in (
        Table(
            "project",
            "the project's settings and Concord's version",
            (
                "concord_version",
                "project",
                "name",
                "description",
                "raters_per_item",
                "dispute_threshold",
                "tolerance",
                "seed",
            ),
            _project,
        ),
        Table(
            "guidelines",
            "dimensions, scales and guidelines as each round froze them",
            (
                "round",
                "guideline_version",
                "in_force",
                "note",
                "status",
                "opened_at",
                "closed_at",
                "project_guidelines",
                "dimension",
                *_DIMENSION,
                "points",
            ),
            _guidelines,
        ),
        Table(
            "documents",
            "the parts of the documents",
            ("document", "title", "part", "label", "text"),
            _documents,
        ),
        Table(
            "items", "the texts that were rated, with their systems", ("document", "system", "text"), _items
        ),
        Table(
            "ratings",
            "every rating of both rounds, with how its assignment came to be",
            tuple(_RATINGS),
            _ratings,
        ),
        Table(
            "assignments",
            "what each place of Round I asks a rater for, how it came to be, and what is missing",
            _ASSIGNMENTS,
            _assignments,
        ),
        Table(
            "final_values",
            "what each unit came to: every rater's last value, their mean, the adjudicated value",
            (*UNIT, "status", "values", "mean", "adjudicated_value", "final_value"),
            _final_values,
        ),
        Table(
            "disputes",
            "the disputed units and how they ended",
            tuple(_DISPUTES),
            _disputes,
        ),
        Table("posts", "the threads of the disputes", tuple(_POSTS), _posts),
        Table(
            "dispute_events",
            "what happened to the disputes, when and why",
            tuple(_DISPUTE_EVENTS),
            _dispute_events,
        ),
        Table(
            "history",
            "every saved state of every rating, from what to what, by whom and why",
            tuple(_HISTORY),
            _history,
        ),
    )
}
