"""People's work: ratings, assignments, the history, disputes, marked spans, and raters from outside."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django.db.models import Case, Count, Exists, F, OuterRef, Q, Subquery, Sum, When
from django.db.models.functions import Coalesce

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import (
    Acknowledgement,
    AssignedUnit,
    Assignment,
    Dispute,
    DisputeEvent,
    Item,
    OutsideRater,
    PayRule,
    Post,
    Project,
    Rating,
    RatingChange,
    Round,
)
from annotate.core.models.rounds import rounds_of_study
from annotate.core.rounds import round_one
from annotate.exports.registry import (
    AT_ONCE,
    IN_ORDER,
    TEXTS_AT_ONCE,
    ColumnRows,
    ExportPart,
    Row,
    add_actor_names,
    own_table,
)
from annotate.questions.kind import hidden_dimensions
from annotate.questions.spans import SPANS
from annotate.rating.evidence import passages_from_json
from annotate.rating.queries.assignments import dimensions_of_kind, order_for_rater, stored_answer, texts_of


def _ratings(project: Project) -> ColumnRows:
    ratings = Rating.objects.filter(
        rounds_of_study("assignment__round__"), assignment__round__project=project
    )
    in_order = ratings.order_by(*IN_ORDER, "pk")
    units = AssignedUnit.objects.filter(assignment=OuterRef("assignment"), dimension=OuterRef("dimension"))
    # A partial assignment has a probability for each unit, a whole one has one for all units.
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


def time_if_known(column: str, **unless: int) -> Case:
    """Return a rating's time, NULL if it was recorded elsewhere; `unless` narrows these ratings."""
    # Files of recorded ratings contain no times, neither for Round I nor for values of Round II.
    first = RatingChange.objects.filter(rating=OuterRef("pk"), revision=1, cause=RatingChange.Cause.IMPORTED)
    answers = Q(assignment__round__number=2) & Q(Exists(first))
    is_unknown = Q(assignment__plan=Assignment.Plan.IMPORTED) | answers
    return Case(When(is_unknown & Q(**unless), then=None), default=F(column))


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
        # A whole assignment asks all questions about its kind of item, a partial one only its units.
        wanted = [each for each in asked[assignment.item.kind] if not assignment.partial or each.id in units]
        hidden = hidden_dimensions(wanted, {key: stored_answer(rating) for key, rating in answers.items()})
        own = order_for_rater(wanted, round, assignment.annotator) if assignment.annotator else []
        position = {each.id: number for number, each in enumerate(own, start=1)}
        for dimension in wanted:
            probability = units.get(dimension.id, assignment.inclusion_probability)
            yield {
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
                "answer": "hidden" if dimension.id in hidden else _status(answers.get(dimension.id)),
                "dimension_position": position.get(dimension.id),
            }


def _status(rating: Rating | None) -> str:
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


RATINGS = own_table("ratings", "every rating of both rounds, with the plan of its assignment", _ratings)
ASSIGNMENTS = own_table(
    "assignments", "one row for each unit of each rater slot of Round I, rated, missing or free", _assignments
)
HISTORY = own_table(
    "history", "every saved state of every rating, from what to what, by whom and why", _history
)
ACKNOWLEDGEMENTS = own_table(
    "acknowledgements", "which rater has read which changed wording, and when", _acknowledgements
)


def _disputes(project: Project) -> ColumnRows:
    return ColumnRows(Dispute.objects.filter(round__project=project).order_by("number"), DISPUTES.sources)


def _posts(project: Project) -> ColumnRows:
    posts = Post.objects.filter(dispute__round__project=project).order_by("dispute__number", "at", "pk")
    return ColumnRows(posts, POSTS.sources)


def _dispute_events(project: Project) -> Iterator[Row]:
    events = DisputeEvent.objects.filter(dispute__round__project=project)
    rows = ColumnRows(events.order_by("dispute__number", "at", "pk"), DISPUTE_EVENTS.sources)
    kinds = DisputeEvent.Kind
    by_admins = {kinds.OPENED, kinds.ADJUDICATED, kinds.LEFT_OPEN, kinds.RESUMED}
    return add_actor_names(rows, project, of="event", not_by_raters=by_admins)


DISPUTES = own_table("disputes", "the disputed units and how they ended", _disputes)
POSTS = own_table("posts", "the threads of the disputes", _posts, part=ExportPart.THREADS)
DISPUTE_EVENTS = own_table("dispute_events", "what happened to the disputes, when and why", _dispute_events)


def _spans(project: Project) -> Iterator[Row]:
    is_marked = Q(evidence__isnull=False) | Q(dimension__kind=SPANS.key, value__isnull=False)
    marked = Rating.objects.filter(
        is_marked, rounds_of_study("assignment__round__"), assignment__round__project=project
    ).order_by(*IN_ORDER, "pk")
    related = ("assignment__item__document", "assignment__item__system", "assignment__annotator", "dimension")
    ratings = marked.select_related("assignment__round", *related)
    for rating in ratings.iterator(TEXTS_AT_ONCE):
        assignment, item = rating.assignment, rating.assignment.item
        texts = texts_of(item)
        for span in _marked_in(rating):
            yield {
                "document": item.document.key,
                "system": item.system.name,
                "dimension": rating.dimension.key,
                "rater": assignment.annotator.pseudonym if assignment.annotator else None,
                "round": assignment.round.number,
                **span,
                "text": texts[span["part"]][span["start"] : span["end"]],
            }


def _marked_in(rating: Rating) -> Iterator[dict[str, Any]]:
    """Yield the errors of an answer in spans, then the passages marked as reasons for an answer."""
    options = rating.dimension.options or {}
    names = {
        name: {each["key"]: each["name"] for each in options.get(name, ())}
        for name in ("categories", "severities")
    }
    errors = (rating.data or {}).get("spans", ()) if rating.value is not None else ()
    for span in errors if rating.dimension.kind == SPANS.key else ():
        yield {
            **{name: span[name] for name in ("part", "start", "end")},
            "label": names["categories"].get(span["category"], span["category"]),
            "severity": names["severities"].get(span["severity"], span["severity"]),
        }
    for passage in passages_from_json(rating.evidence):
        position = {"part": passage.part, "start": passage.start, "end": passage.end}
        yield {**position, "label": rating.dimension.name, "severity": None}


SPAN_TABLE = own_table(
    "spans",
    "the errors and the reasons that raters marked in texts",
    _spans,
    is_computed=True,
)


CENT, SECONDS_OF_AN_HOUR = Decimal("0.01"), 3600


def _raters(project: Project) -> Iterator[Row]:
    """Yield a row for each external rater; hidden checks count as work."""
    met = Assignment.objects.filter(round__project=project, round__number__in=Round.MET_TOGETHER)
    done = met.filter(completed_at__isnull=False, annotator__outside__isnull=False).order_by()
    # Complete items and active time of each rater, by which most rules pay.
    items = dict(done.values_list("annotator").annotate(Count("pk")))
    ratings = Rating.objects.filter(assignment__in=met, assignment__annotator__outside__isnull=False)
    seconds = dict(ratings.order_by().values_list("assignment__annotator").annotate(Sum("active_seconds")))
    raters = OutsideRater.objects.select_related("study", "membership").filter(study__project=project)
    for rater in raters.order_by("consented_at", "pk"):
        study, count, active = (
            rater.study,
            items.get(rater.membership_id, 0),
            seconds.get(rater.membership_id, 0.0),
        )
        pay = pay_of(rater, items=count, active_seconds=active)
        yield {
            "rater": rater.membership.pseudonym,
            "parameters": rater.parameters,
            "answers": rater.answers,
            "consented_at": rater.consented_at,
            "consent_digest": rater.consent_digest,
            "outcome": rater.outcome or "working",
            "ended_at": rater.ended_at,
            "items": count,
            "active_seconds": active,
            "pay_rule": study.pay_rule,
            "pay_rate": None if study.pay_rate is None else f"{study.pay_rate:f}",
            "currency": study.currency,
            "pay": None if pay is None else f"{pay:f}",
        }


def pay_of(rater: OutsideRater, *, items: int, active_seconds: float) -> Decimal | None:
    """Return a rater's pay, rounded to 0.01; None without a rule. Completing the study earns a fixed sum."""
    rule, rate = rater.study.pay_rule, rater.study.pay_rate
    if rate is None:
        return None
    amount = {
        PayRule.FIXED: rate if rater.outcome == OutsideRater.Outcome.COMPLETED else Decimal(0),
        PayRule.ITEM: rate * items,
        PayRule.HOUR: rate * Decimal(active_seconds) / SECONDS_OF_AN_HOUR,
    }[PayRule(rule)]
    return amount.quantize(CENT, ROUND_HALF_UP)


RATERS = own_table(
    "raters", "raters from outside, with their consent, work and pay; empty without such raters", _raters
)
