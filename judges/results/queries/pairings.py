"""Measurable judges: the ones with values, and the pairs of an RTS and an MCQ judge among them.

Also cost and duration of judges' answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from django.db.models import Avg, Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.utils.translation import gettext

from annotate.core.models import Project
from judges.core.errors import NoJudgesError
from judges.core.models import Judge, Judgment
from judges.methods import METHODS
from judges.results.queries.scores import counted_judgments


@dataclass(frozen=True)
class Pairing:
    """Two judges whose values are correlated for the reliability indicator."""

    rts: Judge
    mcq: Judge

    @property
    def warning(self) -> str:
        if self.rts.model == self.mcq.model:
            return ""
        return gettext(
            "These judges use different models, {model} and {other_model}. R then shows whether two models "
            "agree, not whether one agrees with itself. Choose two judges of one model."
        ).format(model=self.rts.model, other_model=self.mcq.model)

    def describe_indicator(self, coefficient: str) -> str:
        """Return what R by this coefficient (its label) shows, and the caveat of the pair."""
        says = gettext(
            "{coefficient} of {rts} with {mcq} over each system’s items: where the model agrees with itself, "
            "not how right it is."
        ).format(coefficient=coefficient, rts=self.rts.name, mcq=self.mcq.name)
        return f"{says} {self.warning}".strip()


def scoring_judges(project: Project) -> QuerySet[Judge]:
    """Return the judges that give outputs a number, by name, also those without any judgment."""
    # Judges that compare two outputs or answer other questions give no number for an output.
    others = [key for key, method in METHODS.items() if method.asks_pairs or method.asks_kinds]
    return Judge.objects.filter(project=project).exclude(method__in=others).order_by("name")


def measured_judges(project: Project) -> list[Judge]:
    """Return the judges that give values and have some, by name, each with `values_count`. One query."""
    done = Judgment.objects.filter(judge=OuterRef("pk"), status=Judgment.Status.DONE).order_by()
    counted = Subquery(done.values("judge").annotate(count=Count("pk")).values("count"))
    # A filter would have the database count again.
    return [judge for judge in scoring_judges(project).annotate(values_count=counted) if judge.values_count]


def of_method(judges: Sequence[Judge], method: str) -> list[Judge]:
    return [judge for judge in judges if judge.method == method]


def usual_pairing(judges: Sequence[Judge]) -> Pairing:
    """Return the pair of one model with the most values; of two models only if no model has both.

    Ties go to the oldest pair, so that another judge changes no result.

    Raises NoJudgesError with a message if there is no RTS or no MCQ judge with values.
    """
    rts, mcq = of_method(judges, "rts"), of_method(judges, "mcq")
    missing = [name for name, found in (("RTS", rts), ("MCQ", mcq)) if not found]
    if missing:
        raise NoJudgesError(
            gettext(
                "No {missing} judge has judgments yet. R compares an RTS judge (reason, then score) with an "
                "MCQ judge (multiple choice) of one model: run both, or import their judgments."
            ).format(missing=" and no ".join(missing))
        )

    def suits(pair: Pairing) -> tuple[bool, int, int, int]:
        # R uses items with values of both, so the judge with fewer limits the pair.
        fewest = min(_values_of(pair.rts), _values_of(pair.mcq))
        return pair.rts.model == pair.mcq.model, fewest, -pair.rts.pk, -pair.mcq.pk

    return max((Pairing(*pair) for pair in product(rts, mcq)), key=suits)


def first_judge(judges: Sequence[Judge]) -> Judge:
    """Return the RTS judge with the most values, else the judge with the most; of equals the oldest.

    Raises NoJudgesError with a message if no judge has values.
    """
    if not judges:
        raise NoJudgesError(
            gettext("No judge that gives scores has judgments yet; plan a run, or import judgments.")
        )
    return max(of_method(judges, "rts") or judges, key=lambda judge: (_values_of(judge), -judge.pk))


def judge_called(judges: Sequence[Judge], name: str) -> Judge:
    for judge in judges:
        if judge.name == name:
            return judge
    known = ", ".join(judge.name for judge in judges) or "none"
    raise NoJudgesError(
        gettext("No judge with scores and judgments is called {name!r}. Choose one of: {known}.").format(
            name=name, known=known
        )
    )


def _values_of(judge: Judge) -> int:
    return getattr(judge, "values_count", 0)


@dataclass(frozen=True)
class Spent:
    """The number of a judge's answers on a dimension, cost (None: a price is unknown) and mean seconds."""

    answers: int
    unreadable: int
    cost: Decimal | None
    seconds: float | None


THOUSAND = 1_000


def cost_of_thousand_units(judge: Judge, spent: Iterable[Spent]) -> Decimal | None:
    """Return the mean cost of 1,000 units with all samples of each; None if no answer has a price."""
    priced = [each for each in spent if each.cost is not None and each.answers]
    if not priced:
        return None
    cost = sum((each.cost for each in priced if each.cost is not None), Decimal(0))
    # Each sample is a separate answer, so a unit costs as many answers as the judge has samples.
    return THOUSAND * judge.samples * cost / sum(each.answers for each in priced)


def spent_by_judges(
    judges: Iterable[Judge],
    *,
    with_corrected: bool = True,
    with_reused: bool = True,
) -> dict[tuple[int, str], Spent]:
    """Return the spending by judge and dimension key, in all runs. One query.

    with_corrected: True if answers that a person corrected count. with_reused: True if reused stored answers
    count, which cost nothing.
    """
    answered = Q(status__in=[Judgment.Status.DONE, Judgment.Status.UNREADABLE])
    judgments = counted_judgments(with_corrected=with_corrected).filter(answered, judge__in=list(judges))
    if not with_reused:
        judgments = judgments.filter(reused_from=None)
    rows = (
        judgments.order_by()
        .values_list("judge", "dimension__key")
        .annotate(
            answers=Count("pk"),
            unreadable=Count("pk", filter=Q(status=Judgment.Status.UNREADABLE)),
            total=Sum("cost"),
            # `Count` of a column leaves out NULL, so these are the answers with a price.
            priced=Count("cost"),
            mean_seconds=Avg("seconds"),
        )
    )
    return {
        # A sum over some of the answers would look like the whole cost.
        (judge, key): Spent(answers, unreadable, cost if priced == answers else None, seconds)
        for judge, key, answers, unreadable, cost, priced, seconds in rows
    }
