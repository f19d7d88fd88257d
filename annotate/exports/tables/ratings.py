"""Ratings, assigned units, and the history."""

from collections.abc import Iterator

from django.db.models import Case, Exists, F, OuterRef, Q, Subquery, When
from django.db.models.functions import Coalesce

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import (
    Acknowledgement,
    AssignedUnit,
    Assignment,
    Item,
    Project,
    Rating,
    RatingChange,
)
from annotate.core.models.rounds import rounds_of_study
from annotate.core.rounds import round_one
from annotate.exports.registry import COLUMNS, ExportTable, Row
from annotate.exports.tables.rows import (
    AT_ONCE,
    IN_ORDER,
    ColumnRows,
    add_actor_names,
)
from annotate.questions.kind import hidden_dimensions
from annotate.rating.queries.assignments import dimensions_of_kind, order_for_rater, stored_answer


def _ratings(project: Project) -> ColumnRows:
    ratings = Rating.objects.filter(
        rounds_of_study("assignment__round__"), assignment__round__project=project
    )
    in_order = ratings.order_by(*IN_ORDER, "pk")
    units = AssignedUnit.objects.filter(assignment=OuterRef("assignment"), dimension=OuterRef("dimension"))
    probability = Coalesce(
        Subquery(units.values("inclusion_probability")), F("assignment__inclusion_probability")
    )
    computed = {
        "inclusion_probability": probability,
        "first_saved_at": time_if_known("created_at"),
        "last_saved_at": time_if_known("updated_at", revision=1),
    }
    paths = {name: RATINGS.sources.get(name, name) for name in RATINGS.names}
    return ColumnRows(in_order.annotate(**computed), paths)


def recorded_elsewhere() -> Q:
    """Return the condition for ratings with unknown time: files of recorded ratings do not contain it."""
    first = RatingChange.objects.filter(rating=OuterRef("pk"), revision=1, cause=RatingChange.Cause.IMPORTED)
    answers = Q(assignment__round__number=2) & Q(Exists(first))
    return Q(assignment__plan=Assignment.Plan.IMPORTED) | answers


def time_if_known(column: str, **unless: int) -> Case:
    """Return a rating's time, NULL if it was recorded elsewhere; `unless` narrows these ratings."""
    return Case(When(recorded_elsewhere() & Q(**unless), then=None), default=F(column))


def _assignments(project: Project) -> Iterator[Row]:
    round = round_one(project)
    if round is None:
        return
    guideline = FrozenGuideline.from_json(round.guideline.content)
    asked = {kind: dimensions_of_kind(guideline, kind) for kind in Item.Kind.values}
    assignments = Assignment.objects.filter(round=round).order_by("item", "slot")
    joined = assignments.select_related("item__document", "item__system", "annotator")
    light = joined.defer("item__text", "item__document__parts").prefetch_related("units", "ratings")
    for assignment in light.iterator(AT_ONCE):
        units = {unit.dimension_id: unit.inclusion_probability for unit in assignment.units.all()}
        answers = {rating.dimension_id: rating for rating in assignment.ratings.all()}
        wanted = [each for each in asked[assignment.item.kind] if not assignment.partial or each.id in units]
        hidden = hidden_dimensions(wanted, {key: stored_answer(rating) for key, rating in answers.items()})
        own = order_for_rater(wanted, round, assignment.annotator) if assignment.annotator else []
        position = {each.id: number for number, each in enumerate(own, start=1)}
        for dimension in wanted:
            probability = units.get(dimension.id, assignment.inclusion_probability)
            answer = "hidden" if dimension.id in hidden else _say_answer(answers.get(dimension.id))
            row = {
                "document": assignment.item.document.key,
                "system": assignment.item.system.name,
                "dimension": dimension.key,
                "place": assignment.slot + 1,
                "rater": assignment.annotator.pseudonym if assignment.annotator else None,
                "position": assignment.position,
                "plan": assignment.plan,
                "plan_origin": assignment.origin,
                "plan_seed": assignment.seed,
                "inclusion_probability": probability,
                "answer": answer,
            }
            yield {**row, "dimension_position": position.get(dimension.id)}


def _say_answer(rating: Rating | None) -> str:
    if rating is None or not rating.is_answered:
        return "missing"
    return next((why for why in ("cannot_rate", "not_applicable") if getattr(rating, why)), "rated")


def _history(project: Project) -> Iterator[Row]:
    changes = RatingChange.objects.filter(
        rounds_of_study("rating__assignment__round__"), rating__assignment__round__project=project
    )
    in_order = (f"rating__{path}" for path in IN_ORDER)
    rows = ColumnRows(changes.order_by(*in_order, "rating", "revision"), HISTORY.sources)
    imported = {RatingChange.Cause.IMPORTED}
    return add_actor_names(rows, project, of="cause", not_by_raters=imported)


def _acknowledgements(project: Project) -> ColumnRows:
    read = Acknowledgement.objects.filter(annotator__project=project).order_by("pk")
    return ColumnRows(read, ACKNOWLEDGEMENTS.sources)


RATINGS = ExportTable(
    "ratings",
    "every rating of both rounds, with the plan of its assignment",
    COLUMNS["ratings"],
    _ratings,
)
ASSIGNMENTS = ExportTable(
    "assignments",
    "one row for each unit of each rater slot of Round I, rated, missing or free",
    COLUMNS["assignments"],
    _assignments,
)
HISTORY = ExportTable(
    "history",
    "every saved state of every rating, from what to what, by whom and why",
    COLUMNS["history"],
    _history,
)
ACKNOWLEDGEMENTS = ExportTable(
    "acknowledgements",
    "which rater has read which changed wording, and when",
    COLUMNS["acknowledgements"],
    _acknowledgements,
)
