"""External raters: consent, answers about themselves, work and pay."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from django.db.models import Count, Sum

from annotate.core.models import Assignment, OutsideRater, PayRule, Project, Rating, Round
from annotate.exports.registry import COLUMNS, ExportTable, Row

CENT, SECONDS_OF_AN_HOUR = Decimal("0.01"), 3600


def _raters(project: Project) -> Iterator[Row]:
    """Yield a row for each external rater; hidden checks count as work."""
    met = Assignment.objects.filter(round__project=project, round__number__in=Round.MET_TOGETHER)
    done = met.filter(completed_at__isnull=False, annotator__outside__isnull=False).order_by()
    items = dict(done.values_list("annotator").annotate(Count("pk")))
    ratings = Rating.objects.filter(assignment__in=met, assignment__annotator__outside__isnull=False)
    seconds = dict(ratings.order_by().values_list("assignment__annotator").annotate(Sum("active_seconds")))
    raters = OutsideRater.objects.select_related("study", "place").filter(study__project=project)
    for rater in raters.order_by("consented_at", "pk"):
        study, count, active = rater.study, items.get(rater.place_id, 0), seconds.get(rater.place_id, 0.0)
        pay = pay_of(rater, items=count, active_seconds=active)
        yield {
            "rater": rater.place.pseudonym,
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


RATERS = ExportTable(
    "raters",
    "raters from outside, with their consent, work and pay; empty without such raters",
    COLUMNS["raters"],
    _raters,
)
