"""What calls change in judgments: outcomes of leases, earlier answers, first judgments, removed replies."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.models import User
from judges.core.models import Endpoint, Judge, Judgment, JudgmentChange, Run
from judges.endpoints.work import Call, Outcome, Prices, add_counts

Kind, Problem, Status = JudgmentChange.Kind, Judgment.Problem, Judgment.Status
AT_ONCE = 500  # judgments of one transaction
logger = logging.getLogger(__name__)
_CALL = tuple(field.name for field in fields(Call))
_COLUMNS = (
    *_CALL,
    *("steps", "steps_done", "status", "attempts", "value", "data", "rationale", "reply"),
    *("reason", "problem"),
    *("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost", "seconds"),
    *("answered_at", "log_probabilities"),
)
_WRITE = (
    f"UPDATE {Judgment._meta.db_table} SET {', '.join(f'{name} = %s' for name in _COLUMNS)}, "
    "lease = NULL, leased_until = NULL WHERE id = %s AND lease = %s"
)
_CHANGED = ("status", "value", "reason", "problem", "cost", "answered_at")


def _defaults(names: Iterable[str]) -> dict[str, Any]:
    found = [Judgment._meta.get_field(name) for name in names]
    return {field.attname: field.get_default() for field in found}  # type: ignore[union-attr]


# Each repetition of the question counts its own calls: its first calls that fail must not be its last.
PLAIN = _defaults([*(name for name in _COLUMNS if name not in _CHANGED), "reused_from", "is_corrected"])
EMPTY = PLAIN | _defaults(_CHANGED[1:])
"""The values that a judgment loses before another request."""
WORDS: dict[str, Any] = {"reply": "", "refusal": "", "messages": None}


@transaction.atomic
def store(
    *,
    run: int,
    endpoint: int,
    holder: UUID,
    outcomes: Sequence[Outcome],
    prices_of: Callable[[str], Prices],
    counts_tokens: bool = True,
) -> int:
    """Write outcomes of leases that this holder still has; return the number written.

    prices_of: returns the prices of a model. If a repeated call has failed, the earlier answer remains. The
    cost counts for the run even without the lease: the call has been paid.
    """
    now = timezone.now()
    prices = {model: prices_of(model) for model in {each.model for each in outcomes}}
    costs = [
        prices[each.model].cost(each.input_tokens, each.output_tokens, each.cached_tokens)
        for each in outcomes
    ]
    rows = [_row(each, cost, now, holder) for each, cost in zip(outcomes, costs, strict=True)]
    # One prepared statement for all rows: the ORM has no update with other values for each row that also
    # asks for the lease, which is how a worker that lost its lease writes nothing.
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE, rows)  # type: ignore[arg-type]
        written = int(cursor.rowcount)
    # Judgments that were asked again without success get their earlier answers back.
    failed = [each.judgment for each in outcomes if each.status == Status.FAILED]
    if failed:
        give_back_answers(Judgment.objects.filter(pk__in=failed, status=Status.FAILED))
    firsts = [each for each in outcomes if each.first_of is not None]
    if firsts:
        note_first_judgments(run=run, outcomes=firsts)
    # All outcomes count, also the ones whose rows another worker leases by now: the calls are paid.
    spent = sum((cost for cost in costs if cost is not None), Decimal(0))
    savings = _note_savings(outcomes, prices)
    if spent or savings:
        Run.objects.filter(pk=run).update(spent=F("spent") + spent, **savings)
    # The next lease compares the tokens of the window with the limit of the endpoint.
    if counts_tokens:
        tokens = sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in outcomes)
        Endpoint.objects.filter(pk=endpoint, tokens_per_minute__isnull=False).update(
            window_tokens=F("window_tokens") + tokens
        )
    return written


def _note_savings(outcomes: Sequence[Outcome], prices: Mapping[str, Prices]) -> dict[str, Combinable]:
    """Return cached tokens and savings as an update of the run; empty if no server reports any."""
    told = [(each.cached_tokens, prices[each.model]) for each in outcomes if each.cached_tokens is not None]
    if not told:
        return {}
    savings = [(cached, of_model.savings(cached)) for cached, of_model in told]
    # Tokens without a known price count separately: their savings are unknown, not 0.
    unpriced = sum(cached for cached, saved in savings if saved is None)
    return {
        "cached_tokens": Coalesce("cached_tokens", Value(0)) + sum(cached for cached, _ in savings),
        "cached_tokens_unpriced": F("cached_tokens_unpriced") + unpriced,
        "cache_savings": F("cache_savings") + sum((saved or Decimal(0) for _, saved in savings), Decimal(0)),
    }


def _row(outcome: Outcome, cost: Decimal | None, now: datetime, holder: UUID) -> list[object]:
    # A planned judgment with a reason has an unreadable reply, so it was answered once.
    was_put_back = outcome.status == Status.PLANNED and not outcome.reason
    values = {
        **outcome.__dict__,
        **outcome.call.__dict__,
        **_add_earlier_spending(outcome, cost),
        "steps_done": outcome.steps_done,
        "answered_at": None if was_put_back else now,
    }
    fields = [Judgment._meta.get_field(name) for name in _COLUMNS]
    adapted = [
        field.get_db_prep_save(values[field.name], connection)  # type: ignore[union-attr]
        for field in fields
    ]
    lease_field = Judgment._meta.get_field("lease")
    return [*adapted, outcome.judgment, lease_field.get_db_prep_save(holder, connection)]


def _add_earlier_spending(outcome: Outcome, cost: Decimal | None) -> dict[str, object]:
    """Return tokens and cost including an unreadable reply that an earlier slice stored."""
    earlier = outcome.earlier
    if earlier is None:
        return {"cost": cost}
    return {
        "input_tokens": earlier.input_tokens + (outcome.input_tokens or 0),
        "output_tokens": earlier.output_tokens + (outcome.output_tokens or 0),
        "cached_tokens": add_counts(earlier.cached_tokens, outcome.cached_tokens),
        "reasoning_tokens": add_counts(earlier.reasoning_tokens, outcome.reasoning_tokens),
        # An unknown part makes the whole cost unknown.
        "cost": None if earlier.cost is None else earlier.cost + (cost or Decimal(0)),
    }


# Earlier answers of judgments requested again: stored in the history, restored if no new answer comes.


def change_of(
    judgment: Judgment, kind: JudgmentChange.Kind, status: str, value: float | None = None, **facts: Any
) -> JudgmentChange:
    """Return the unsaved entry of the history for a judgment that is about to get this status and value."""
    return JudgmentChange(
        judgment=judgment,
        at=timezone.now(),
        kind=kind,
        status_before=judgment.status,
        value_before=judgment.value,
        reason_before=judgment.reason,
        problem_before=judgment.problem,
        status_after=status,
        value_after=value,
        **facts,
    )


def keep_answers(judgments: Sequence[Judgment], *, by: User | None) -> None:
    """Store the answers of judgments in the history, before they are requested again."""
    changes = []
    for judgment in judgments:
        at, cost = judgment.answered_at, judgment.cost
        # JSON has no decimals, so the cost is a string with all its digits.
        answer = {
            **{name: getattr(judgment, name) for name in PLAIN},
            "cost": None if cost is None else f"{cost:f}",
            "answered_at": None if at is None else at.isoformat(),
        }
        changes.append(change_of(judgment, Kind.ASKED_AGAIN, Status.PLANNED, actor=by, answer_before=answer))
    JudgmentChange.objects.bulk_create(changes)


def give_back_answers(unanswered: QuerySet[Judgment]) -> None:
    """Restore the earlier answers of judgments requested again without a new answer.

    unanswered: planned or failed ones, including some without an earlier answer. Five hundred at a time.
    """
    # Only judgments that were answered before have an entry with their earlier answer.
    asked = JudgmentChange.objects.filter(judgment=OuterRef("pk"), kind=Kind.ASKED_AGAIN)
    rows, last = unanswered.filter(Exists(asked)).order_by("pk"), 0
    while batch := list(rows.filter(pk__gt=last)[:AT_ONCE]):
        _give_back(batch)
        last = batch[-1].pk


def _give_back(batch: Sequence[Judgment]) -> None:
    asked = JudgmentChange.objects.filter(judgment__in=batch, kind=Kind.ASKED_AGAIN).order_by("pk")
    # A judgment may have been asked again several times: its latest change has the last answer.
    last = {change.judgment_id: change for change in asked}
    changes = []
    for judgment in batch:
        change = last[judgment.pk]
        before = {**EMPTY, **change.answer_before}
        changes.append(change_of(judgment, Kind.GIVEN_BACK, change.status_before, change.value_before))
        for name in PLAIN:
            setattr(judgment, name, before[name])
        judgment.status, judgment.value = change.status_before, change.value_before
        judgment.reason, judgment.problem = change.reason_before, change.problem_before
        judgment.cost = None if before["cost"] is None else Decimal(before["cost"])
        at = before["answered_at"]
        judgment.answered_at = None if at is None else datetime.fromisoformat(at)
    JudgmentChange.objects.bulk_create(changes)
    Judgment.objects.bulk_update(batch, ["status", *EMPTY])


# A judge with a parameter that its model rejects would be rejected once for each judgment. So its first
# judgment of a run is called alone, with the parameters of all others. Once it is answered the others follow;
# if the server rejects it, the judge stops with the server's words, and the other judges continue.


def judges_to_try(run: Run) -> list[int]:
    """Return the judges whose first judgment must be called alone when a run starts or resumes.

    A judge with judgments in flight, or in a batch, has its test call already.
    """
    judgments = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    planned, leased = judgments.filter(status=Status.PLANNED), judgments.filter(status=Status.LEASED)
    judges = Judge.with_candidates.filter(Exists(planned), ~Exists(leased), project=run.project_id)
    return list(judges.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def note_first_judgments(*, run: int, outcomes: Sequence[Outcome]) -> None:
    """Release the judges with an answer, and stop the judges that the server rejects. Locks the run."""
    rejected = {each.first_of: each.reason for each in outcomes if each.problem == Problem.REJECTED}
    answered = {each.first_of for each in outcomes if each.status in (Status.DONE, Status.UNREADABLE)}
    if not rejected and not answered:
        return
    locked = Run.objects.select_for_update().get(pk=run)
    before = locked.untried_judges or []
    locked.untried_judges = [judge for judge in before if judge not in answered | rejected.keys()]
    locked.save(update_fields=["untried_judges"])
    for judge, reason in rejected.items():
        # Other judgments of the same call are leased without a caller.
        leased = Judgment.objects.filter(run=run, judge=judge, status=Status.LEASED)
        leased.update(status=Status.PLANNED, lease=None, leased_until=None)
        planned = Judgment.objects.filter(run=run, judge=judge, status=Status.PLANNED)
        # First, since the restored judgments are no longer planned and escape the updates below.
        give_back_answers(planned)
        # A previously unreadable judgment would have had another call.
        planned.filter(reason__gt="").update(status=Status.UNREADABLE)
        planned.update(status=Status.FAILED, reason=reason, problem=Problem.REJECTED)


def explain_stopped_judges(run: Run) -> str:
    """Return the judges of a run that the server rejects, with its words; empty if it rejects none."""
    rows = _rejections(run).order_by("judge").values_list("judge__name", "reason").distinct()
    return " ".join(
        gettext("{judge} was stopped at its first judgment. {reason}").format(judge=judge, reason=reason)
        for judge, reason in dict(rows).items()
    )


def plan_rejected_again(run: Run) -> None:
    """Plan the remaining judgments of a stopped judge again, because an admin may have corrected its
    settings.
    """
    _rejections(run).update(status=Status.PLANNED, reason="", problem="")


def _rejections(run: Run) -> QuerySet[Judgment]:
    return Judgment.objects.filter(run=run, status=Status.FAILED, problem=Problem.REJECTED)


def note_max_tokens_name(endpoint: int, model: str, name: str) -> None:
    """Store the server's name for a model's reply limit, unless an admin has chosen one."""
    # All judges of the model learn the name, and none has to find it out by a rejected call.
    unknown = Judge.with_candidates.filter(endpoint=endpoint, model=model, max_tokens_name="")
    unknown.update(max_tokens_name=name)


# Removal of replies after the operator's retention period; parsed values stay.


def remove_old_replies() -> int:
    """Remove replies and stored messages of runs that ended long ago; return the number of runs.

    Values, rationales, reasons, tokens and costs stay. Five hundred judgments at a time, each a transaction;
    safe to run twice.
    """
    if settings.REPLY_DAYS is None:
        return 0
    long_ago = timezone.now() - timedelta(days=settings.REPLY_DAYS)
    old = Run.objects.filter(status__in=Run.OVER, finished_at__lt=long_ago, replies_removed_at__isnull=True)
    runs = list(old.order_by("pk").select_related("project"))
    for run in runs:
        count = last = 0
        rows = Judgment.objects.filter(run=run).order_by("pk").only("status", "steps", "steps_done")
        while batch := list(rows.filter(pk__gt=last)[:AT_ONCE]):
            _forget_words(batch)
            count, last = count + len(batch), batch[-1].pk
        with transaction.atomic():
            ended = Run.objects.filter(pk=run.pk, replies_removed_at__isnull=True)
            if ended.update(replies_removed_at=timezone.now()):  # of two concurrent workers one logs it
                record(run.project, "run.replies_removed", run, after={"judgments": count})
        logger.info("Removed the replies of run %s, which ended before %s", run.pk, long_ago)
    return len(runs)


@transaction.atomic
def _forget_words(batch: list[Judgment]) -> None:
    Judgment.objects.filter(pk__in=[each.pk for each in batch]).update(**WORDS)
    stepped = [each for each in batch if each.steps]
    for each in stepped:
        if each.status == Status.FAILED:  # another call restarts with the first step
            each.steps, each.steps_done = [], 0
        else:
            each.steps = _drop_replies(each.steps)
    Judgment.objects.bulk_update(stepped, ["steps", "steps_done"])
    # The history stores the words of earlier answers, too.
    changes = [each for each in JudgmentChange.objects.filter(judgment__in=batch) if each.answer_before]
    for change in changes:
        steps = _drop_replies(change.answer_before.get("steps", []))
        change.answer_before = {**change.answer_before, **WORDS, "steps": steps}
    JudgmentChange.objects.bulk_update(changes, ["answer_before"])


def _drop_replies(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**step, "reply": ""} for step in steps]
