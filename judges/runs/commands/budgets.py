"""Changes of a run's budget, while it is running or after it has stopped."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from judges.core.errors import RunRefusedError, RunStateError
from judges.core.models import Run
from judges.endpoints.prices import prices_of
from judges.runs.queries.runs import judges_of


def used_up(budget: Decimal) -> str:
    """Return the message for a run that stops at its budget, with the remedy."""
    return gettext(
        "The budget of {budget:f} does not allow one more call; give the run a larger one and resume it."
    ).format(budget=budget.normalize())


@transaction.atomic
def change_budget(*, run: Run, budget: Decimal | None) -> Run:
    """Set another budget of a run that has not ended, or none.

    Locks the run's row; workers see it immediately.

    Raises RunStateError, and RunRefusedError for a budget that needs unknown prices.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.status in (Run.Status.CANCELLED, Run.Status.FINISHED):
        raise RunStateError(
            gettext("This run is {status}, so its budget does not matter any more.").format(
                status=run.get_status_display()
            )
        )
    if budget is not None:
        for judge in judges_of(run):
            if judge.endpoint and not prices_of(judge.endpoint, judge.model).are_known:
                raise RunRefusedError(
                    gettext(
                        "The prices of {model} at {name} are unknown, so Concord cannot enforce a budget."
                    ).format(model=judge.model, name=judge.endpoint.name)
                )
    before, after = {"budget": run.budget}, {"budget": budget}
    record(run.project, "run.budget_changed", run, before=before, after=after)
    run.budget = budget
    run.save(update_fields=["budget"])
    return run
