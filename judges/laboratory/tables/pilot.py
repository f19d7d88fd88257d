"""Versions of a prompt held against each other on the development documents."""

from collections.abc import Iterator

from django.utils.translation import gettext, gettext_lazy

from agreement.comparison import JudgesCompared, holm_over_pairs
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.core.rounds import last_round
from annotate.results.page import Section
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.core.models import Judge
from judges.laboratory.tables.alignment import cells_of_part, compare_on
from judges.results.queries.comparison import guideline_of
from judges.results.queries.pairings import measured_judges
from judges.results.queries.scores import material_of, samples_of
from judges.results.tables.columns import JUDGE, number_or_reason
from judges.results.tables.parameters import chosen_judge

_SAYS = gettext_lazy(
    "Alpha of each judge with people’s mean, on the items of development documents with values of"
    " this judge, the chosen judge and people; the difference is this judge minus the chosen one."
    " Intervals resample documents, the same for both; p has Holm’s correction over judges and "
    "over dimensions, {looks} comparisons in total. If you choose a prompt by these results, they"
    " no longer show its quality on other documents; all other results about judges exclude "
    "people’s values of these documents."
)
_NOT_DRAWN = gettext_lazy(
    "No document is for development yet. Sample the development part under Laboratory > Alignment."
)
_ALONE = gettext_lazy("No other judge has values on the development documents yet.")
_COLUMNS = [
    DIMENSION,
    JUDGE,
    Column("items", lambda: gettext("items"), ColumnKind.COUNT),
    Column("chosen", lambda: gettext("alpha of the chosen judge")),
    Column("other", lambda: gettext("alpha of this judge")),
    Column("gain", lambda: gettext("difference")),
    Column("p", "p", ColumnKind.P_VALUE),
]


def pilot_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return every other judge beside the chosen one, by dimension. Nine queries."""
    judge = chosen_judge(project, chosen)
    pairs = list(_beside(project, judge))
    rows = [
        [text(one.name, key=one.key), text(other.name), *cells_of_part(found), _p_value(found)]
        for one, other, found in pairs
    ]
    table = Table(
        "versions",
        gettext("Judges compared with {judge}").format(judge=judge.name),
        _COLUMNS,
        rows,
        heads=2,
        says=_SAYS.format(looks=len(rows)),
    )
    drawn = project.documents.filter(development__isnull=False).exists()
    problem = "" if rows else str(_ALONE) if drawn else str(_NOT_DRAWN)
    return [Section(gettext("Prompts compared on the same units"), problem, [table])]


def _beside(project: Project, judge: Judge) -> Iterator[tuple[FrozenDimension, Judge, JudgesCompared]]:
    last = last_round(project)
    material = material_of(project, last, guideline_of(project, last), with_development=True)
    part = material.in_development
    judges = measured_judges(project)
    samples = samples_of(judges, material)
    pairs = [
        (one, other)
        for one in material.dimensions
        for other in judges
        if other != judge
        and not one.is_named
        and (samples[judge.pk, one.key].given & part).any()
        and (samples[other.pk, one.key].given & part).any()
    ]
    compared = holm_over_pairs(
        [compare_on(project, material, samples, part, other, judge, one) for one, other in pairs]
    )
    for (one, other), found in zip(pairs, compared, strict=True):
        yield one, other, found


def _p_value(found: JudgesCompared) -> Cell:
    difference = found.figures.get("alpha")
    reason = (difference.reason if difference else "") or gettext(
        "No item has values of both judges and people."
    )
    return number_or_reason(found.adjusted.get("alpha"), reason)
