"""The first judgment of each judge of a run, which shows whether the server takes its requests.

A judge with a parameter that its model rejects would be rejected once for each judgment. So one judgment is
asked alone, with all that the others will send. When it is answered the others follow; when the server
rejects it, the judge stops with the server's words, and the run's other judges go on.
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
    """Return the judges of which a run that begins or goes on asks one judgment first.

    A judge with judgments in flight, or in a batch, is being asked already.
    """
    judgments = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    planned, leased = judgments.filter(status=Status.PLANNED), judgments.filter(status=Status.LEASED)
    judges = Judge.with_candidates.filter(Exists(planned), ~Exists(leased), project=run.project_id)
    return list(judges.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def note_first_judgments(*, run: int, outcomes: Sequence[Outcome]) -> None:
    """Let the judges go on that were answered, and stop those that the server rejects. Locks the run."""
    rejected = {each.first_of: each.reason for each in outcomes if each.problem == Problem.REJECTED}
    answered = {each.first_of for each in outcomes if each.status in (Status.DONE, Status.UNREADABLE)}
    if not rejected and not answered:
        return
    locked = Run.objects.select_for_update().get(pk=run)
    before = locked.untried_judges or []
    locked.untried_judges = [judge for judge in before if judge not in answered | rejected.keys()]
    locked.save(update_fields=["untried_judges"])
    for judge, reason in rejected.items():
        # What the same call was to give is leased, and nobody asks it any more.
        leased = Judgment.objects.filter(run=run, judge=judge, status=Status.LEASED)
        leased.update(status=Status.PLANNED, lease=None, leased_until=None)
        planned = Judgment.objects.filter(run=run, judge=judge, status=Status.PLANNED)
        give_back_answers(planned)
        # One that was unreadable before would have been asked once more.
        planned.filter(reason__gt="").update(status=Status.UNREADABLE)
        planned.update(status=Status.FAILED, reason=reason, problem=Problem.REJECTED)


def why_judges_stopped(run: Run) -> str:
    """Return which judges of a run the server rejects, with its words; empty where it rejects none."""
    rows = _rejections(run).order_by("judge").values_list("judge__name", "reason").distinct()
    return " ".join(
        gettext("{judge} was stopped at its first judgment. {reason}").format(judge=judge, reason=reason)
        for judge, reason in dict(rows).items()
    )


def plan_rejected_again(run: Run) -> None:
    """Plan again what a stopped judge was not asked, since somebody may have mended its settings."""
    _rejections(run).update(status=Status.PLANNED, reason="", problem="")


def _rejections(run: Run) -> QuerySet[Judgment]:
    return Judgment.objects.filter(run=run, status=Status.FAILED, problem=Problem.REJECTED)


def note_max_tokens_name(endpoint: int, model: str, name: str) -> None:
    """Write down how a server calls the longest reply of a model, where no admin has chosen a name."""
    unknown = Judge.with_candidates.filter(endpoint=endpoint, model=model, max_tokens_name="")
    unknown.update(max_tokens_name=name)
