"""Parameters of results of judges: the judge, and the round of the human values."""

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement.comparison import CORRELATIONS, Level
from annotate.core.models import Project, Round
from annotate.core.rounds import rounds_of
from annotate.results.queries.compared_systems import DOCUMENTS, RATERS, TEXTS, reach_parameter
from annotate.results.queries.material import ROMAN
from annotate.results.registry import Chosen, Parameter
from judges.core.errors import NoJudgesError
from judges.core.models import Judge
from judges.core.specification import CONFIDENCE_LEVELS
from judges.results.queries.pairings import first_judge, measured_judges

Options = Sequence[tuple[str, str]]


def _judges(project: Project) -> Options:
    """Return the judges with values, the usual one first. Raises NoJudgesError if there is none."""
    judges = measured_judges(project)
    return _list_with_first(first_judge(judges), judges)


def _list_any_judge(project: Project) -> Options:
    """Return all judges by name, the usual one first. Raises NoJudgesError if there is none."""
    judges = list(Judge.objects.filter(project=project).order_by("name"))
    if not judges:
        raise NoJudgesError(gettext("There is no judge yet; add one and plan a run, or import judgments."))
    measured = measured_judges(project)
    return _list_with_first(first_judge(measured) if measured else judges[0], judges)


def _list_with_first(first: Judge, judges: Sequence[Judge]) -> Options:
    return [(str(each.pk), each.name) for each in (first, *(one for one in judges if one != first))]


def _rounds(project: Project) -> Options:
    """Return the rounds, the last one first."""
    return [
        (str(number), gettext("Round {number}").format(number=ROMAN[number]))
        for number in sorted(rounds_of(project), reverse=True)
    ]


OWN, SHARED = "own", "shared"
COUNTED, LEFT_OUT = "counted", "left-out"
CORRECTED = Parameter(
    "corrected",
    gettext_lazy("Corrected judgments"),
    lambda _: [(COUNTED, gettext("counted as a person left them")), (LEFT_OUT, gettext("left out"))],
)
UNITS = Parameter(
    "units",
    gettext_lazy("Compared on"),
    lambda _: [
        (OWN, gettext("each judge’s own items")),
        (SHARED, gettext("items for which all judges have a value")),
    ],
)
JUDGE = Parameter("judge", gettext_lazy("Judge"), _judges)
ANY_JUDGE = Parameter("judge", gettext_lazy("Judge"), _list_any_judge)
ROUND = Parameter("round", gettext_lazy("People’s values at the end of"), _rounds)
COEFFICIENT = Parameter(
    "coefficient",
    gettext_lazy("Coefficient"),
    lambda _: [(name, measure.estimator.label) for name, measure in CORRELATIONS.items()],
)
LEVEL = Parameter(
    "level",
    gettext_lazy("Over"),
    lambda _: [
        (Level.DATASET, gettext("all items")),
        (Level.DOCUMENT, gettext("the items of each document")),
    ],
)
ABOUT = reach_parameter(RATERS, DOCUMENTS, TEXTS)
CONFIDENCE = Parameter(
    "confidence",
    gettext_lazy("Confidence"),
    lambda _: [(f"{level:g}", f"{100 * level:g} %") for level in CONFIDENCE_LEVELS],
)


def chosen_judge(project: Project, chosen: Chosen) -> Judge:
    return Judge.objects.get(project=project, pk=int(chosen["judge"]))


def counts_corrected(chosen: Chosen) -> bool:
    """Return True if judgments corrected by a person count."""
    return chosen.get("corrected") != LEFT_OUT


def chosen_round(project: Project, chosen: Chosen) -> Round | None:
    """Return the round that was chosen, None before Round I. One query."""
    return rounds_of(project).get(int(chosen.get("round", 0)))
