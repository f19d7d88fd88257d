"""The first judgment of each judge of a run, a test of the server's acceptance.

A judge with a parameter that its model rejects would be rejected once for each judgment. So the first
judgment gets a single call, with the parameters of all others. When it is answered the others follow. When
the server rejects it, the judge stops with the server's words, and the run's other judges continue.
"""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from judges.core.models import Judge, Judgment, Run
from judges.endpoints.work import Outcome
from judges.runs.commands.earlier_answers import give_back_answers

Status, Problem = Judgment.Status, Judgment.Problem


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
    unknown = Judge.with_candidates.filter(endpoint=endpoint, model=model, max_tokens_name="")
    unknown.update(max_tokens_name=name)
