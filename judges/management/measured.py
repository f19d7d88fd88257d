"""The judge that a command measures, by its name."""

from django.core.management.base import CommandError

from annotate.core.models import Project
from judges.core.errors import NoJudgesError
from judges.core.models import Judge
from judges.results.queries.pairings import first_judge, judge_called, measured_judges


def chosen_judge(project: Project, name: str | None) -> Judge:
    """Return the judge of this name, the first one without; raises CommandError where there is none."""
    judges = measured_judges(project)
    try:
        return judge_called(judges, name) if name else first_judge(judges)
    except NoJudgesError as error:
        raise CommandError(error.message) from error
