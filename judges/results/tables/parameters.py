"""Parameters of results of judges: the judge, and the round of the human values; versions of the results."""

import hashlib
from collections.abc import Sequence

from django.db.models import Count, F, Max, Q, Sum
from django.utils.translation import gettext, gettext_lazy

from agreement.comparison import CORRELATIONS, Level
from annotate.core.models import Project, Round
from annotate.core.rounds import rounds_of
from annotate.core.version import VERSION
from annotate.results.queries.compared_systems import DOCUMENTS, RATERS, TEXTS, reach_parameter
from annotate.results.queries.kept import ratings_of, version_of_ratings
from annotate.results.queries.material import ROMAN
from annotate.results.registry import Chosen, Parameter
from judges.core.errors import NoJudgesError
from judges.core.models import Judge, Judgment
from judges.core.specification import CONFIDENCE_LEVELS
from judges.results.queries.pairings import first_judge, measured_judges
from judges.results.queries.scores import Material

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
    # The first option is the default.
    return [(str(each.pk), each.name) for each in (first, *(one for one in judges if one != first))]


def _rounds(project: Project) -> Options:
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
# Judges of pairs have biases, too, and no scores.
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
    return chosen.get("corrected") != LEFT_OUT


def chosen_round(project: Project, chosen: Chosen) -> Round | None:
    """Return the round that was chosen, None before Round I. One query."""
    return rounds_of(project).get(int(chosen.get("round", 0)))


def version_of_judges(project: Project) -> Sequence[object]:
    """Return a version that changes with ratings or judgments. Six queries."""
    # Statistics exclude these documents, so a changed split makes all of them outdated.
    drawn = Count("project__documents__development")
    judges = list(Judge.objects.filter(project=project).order_by("pk").annotate(drawn=drawn))
    # Pages report the number of unreadable or failed judgments of each judge.
    status = [Judgment.Status.UNREADABLE, Judgment.Status.FAILED]
    counted = Judgment.objects.filter(judge__project=project, status__in=status).order_by("judge")
    without_value = list(counted.values_list("judge").annotate(Count("pk"), Sum("item"), Sum("dimension")))
    return [
        *version_of_ratings(project),
        [(judge.pk, judge.name, judge.drawn) for judge in judges],
        *version_of_values(judges),
        without_value,
    ]


def version_of_values(judges: Sequence[Judge]) -> Sequence[object]:
    """Return a version that changes when a value of these judges changes or moves to another unit.

    One query.
    """
    done = Judgment.objects.filter(judge__in=judges, status=Judgment.Status.DONE)
    sums = done.order_by("judge").values_list("judge")
    rows = sums.annotate(
        Count("pk"),
        Max("pk"),
        Max("answered_at"),
        corrected=Count("pk", filter=Q(is_corrected=True)),  # these can be excluded
        # Sums weighted by item and dimension notice a value that moves to another unit.
        total=Sum("value"),
        of_items=Sum(F("value") * F("item")),
        of_dimensions=Sum(F("value") * F("dimension")),
    )
    # Twelve digits: a database adds fractions in any order, and the last digits of a sum depend on it.
    return [[f"{each:.12g}" if isinstance(each, float) else each for each in row] for row in rows]


def digest_of_values(
    project: Project, judges: Sequence[Judge], material: Material, *, with_corrected: bool = True
) -> str:
    """Return a digest of all inputs of R of these judges, with its interval. One query.

    with_corrected: the digest differs if corrections by people are excluded. So no decision by R, which
    counts them, uses R of such a page.
    """
    # Another version may compute R otherwise, and intervals follow from the seed and the names.
    parts = [
        VERSION,
        project.seed,
        [(judge.pk, judge.name) for judge in judges],
        version_of_values(judges),
        [(one.id, one.key) for one in material.dimensions],
        list(material.systems),
        with_corrected,
    ]
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=20)
    digest.update(material.items.tobytes())
    return digest.hexdigest()


def values_of(project: Project) -> int:
    """Return the number of values in statistics about judges. Two queries."""
    return ratings_of(project) + Judgment.objects.filter(judge__project=project).count()
