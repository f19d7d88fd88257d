"""The budget of a run, changed while it goes on or after it has stopped."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from judges.core.errors import RunRefusedError, RunStateError
from judges.core.models import Endpoint, Run


def used_up(budget: Decimal) -> str:
    """Return why a run stops that has a budget, and what to do."""
    return gettext(
        "The budget of {budget:f} does not allow one more call; give the run a larger one and resume it."
    ).format(budget=budget.normalize())


@transaction.atomic
def change_budget(*, run: Run, budget: Decimal | None) -> Run:
    """Give a run that has not ended another budget, or none. Locks the run's row; workers see it at once.

    Raises RunStateError, and RunRefusedError for a budget that prices cannot keep.
    """
    run = Run.objects.select_for_update().get(pk=run.pk)
    if run.status in (Run.Status.CANCELLED, Run.Status.FINISHED):
        raise RunStateError(
            gettext("This run is {status}, so its budget does not matter any more.").format(
                status=run.get_status_display()
            )
        )
    unpriced = Endpoint.objects.filter(judges__judgments__run=run).exclude(
        input_price__isnull=False, output_price__isnull=False
    )
    if budget is not None and (endpoint := unpriced.first()):
        raise RunRefusedError(
            gettext("The prices of {name} are unknown, so Concord cannot enforce a budget.").format(
                name=endpoint.name
            )
        )
    before, after = {"budget": run.budget}, {"budget": budget}
    record(run.project, "run.budget_changed", run, before=before, after=after)
    run.budget = budget
    run.save(update_fields=["budget"])
    return run
