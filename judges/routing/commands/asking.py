"""Asking the judges that a certificate or a policy waits for."""

from collections.abc import Sequence

from django.utils.translation import gettext

from annotate.core.models import Project, User
from judges.core.errors import RunRefusedError
from judges.core.models import Run
from judges.core.stages import JudgeToAsk
from judges.routing.queries.asking import scope_to_ask
from judges.runs.commands.runs import plan_run, start_run


def ask_waiting_judges(*, project: Project, waiting: Sequence[JudgeToAsk], by: User | None) -> Run:
    """Start a run about exactly the units that the judges lack. Raises RunRefusedError."""
    if not waiting:
        raise RunRefusedError(gettext("No judge has to be asked."))
    return start_run(run=plan_run(project=project, scope=scope_to_ask(project, waiting), by=by))
