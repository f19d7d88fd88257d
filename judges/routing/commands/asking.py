"""Runs of the pending judges of certificates and policies."""

from collections.abc import Sequence

from django.utils.translation import gettext

from annotate.core.models import Project, User
from judges.core.errors import RunRefusedError
from judges.core.models import Judgment, Run
from judges.core.stages import JudgeToAsk
from judges.routing.queries.asking import scope_to_ask
from judges.runs.commands.runs import plan_run, retry_failed, start_run


def ask_waiting_judges(*, project: Project, waiting: Sequence[JudgeToAsk], by: User | None) -> Run:
    """Start a run on exactly the units that the judges lack, and restart the failed runs there.

    Raises RunRefusedError, RunStateError.
    """
    if not waiting:
        raise RunRefusedError(gettext("No judge has to be asked."))
    units = {(each.judge.pk, *unit) for each in waiting for unit in each.units}
    failed = Judgment.objects.filter(
        judge__in=[each.judge.pk for each in waiting], status=Judgment.Status.FAILED, run__isnull=False
    )
    rows = failed.exclude(run__status=Run.Status.CANCELLED).order_by()
    again = {
        run for run, *unit in rows.values_list("run", "judge", "item", "dimension") if tuple(unit) in units
    }
    retried = [retry_failed(run=run) for run in Run.objects.filter(pk__in=again).order_by("pk")]
    run = start_run(run=plan_run(project=project, scope=scope_to_ask(project, waiting), by=by))
    return run if run.judgments.exists() or not retried else retried[-1]
