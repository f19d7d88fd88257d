"""What can be chosen about results of judges: which judge, whose values at the end of which round."""

from collections.abc import Sequence

from annotate.core.models import Project, Round
from annotate.core.rounds import rounds_of
from annotate.results.queries.material import ROMAN
from annotate.results.registry import Chosen, Parameter
from judges.core.models import Judge
from judges.results.queries.pairings import first_judge, measured_judges

Options = Sequence[tuple[str, str]]


def _judges(project: Project) -> Options:
    """Return the judges with values, the usual one first. Raises NoJudgesError where there is none."""
    judges = measured_judges(project)
    first = first_judge(judges)
    return [(str(each.pk), each.name) for each in (first, *(one for one in judges if one != first))]


def _rounds(project: Project) -> Options:
    """Return the rounds, the last one first."""
    return [(str(number), f"Round {ROMAN[number]}") for number in sorted(rounds_of(project), reverse=True)]


def _confidence(_project: Project) -> Options:
    return [("0.95", "95 %"), ("0.9", "90 %"), ("0.99", "99 %")]


JUDGE = Parameter("judge", "Judge", _judges)
ROUND = Parameter("round", "People’s values at the end of", _rounds)
CONFIDENCE = Parameter("confidence", "Confidence", _confidence)


def chosen_judge(project: Project, chosen: Chosen) -> Judge:
    """Return the judge that was chosen."""
    return Judge.objects.get(project=project, pk=int(chosen["judge"]))


def chosen_round(project: Project, chosen: Chosen) -> Round | None:
    """Return the round that was chosen, None before Round I. One query."""
    return rounds_of(project).get(int(chosen.get("round", 0)))
