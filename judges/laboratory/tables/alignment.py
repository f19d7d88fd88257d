"""Versions of judges: learned ones compared with their base, and other judges on the same documents."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.db.models import QuerySet
from django.utils.text import get_text_list
from django.utils.translation import gettext, gettext_lazy

from agreement import PairedDifference
from agreement.comparison import JudgesCompared, compare_two_judges, holm_over_pairs
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.core.rounds import last_round
from annotate.results.registry import Chosen, Tables
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, text
from judges.core.models import Judge, Proposal
from judges.laboratory.queries.cases import Part, is_in_part
from judges.results.queries.pairings import measured_judges
from judges.results.queries.scores import (
    Material,
    SamplesOf,
    material_of,
    samples_of,
    scores_of,
    stream_of_pair,
)
from judges.results.tables.columns import JUDGE, difference_cell, number_or_reason
from judges.results.tables.parameters import chosen_judge, version_of_judges

SURE = 0.05
_SAYS = gettext_lazy(
    "Alpha with people’s mean of each version and of the judge it comes from, on the items that both have "
    "values for. Only the documents held out show what a version is worth: on those for selecting, the best "
    "of many looks better than it is. Intervals resample documents. p has Holm’s correction over judges "
    "and over dimensions: {looks} looks at the documents held out."
)
_NONE = gettext_lazy("No version has values yet. Use a proposal, and run its judge.")
_OVERFITTED = gettext_lazy(
    "Better on the documents for selecting ({selecting:+.3f}), but not surely on the documents held out "
    "({held_out:+.3f})."
)
_WAYS = gettext_lazy(
    "Other judges beside {judge} on the documents for selecting: alpha with people’s mean on the items that "
    "both have values for. The difference is the other judge minus {judge}. Intervals resample documents, "
    "and p has Holm’s correction over judges and over dimensions, {looks} comparisons. A judge chosen here "
    "looks better than it is: compare again on the documents held out."
)
_NO_ITEM = gettext_lazy("No item of this part has values of both judges and people.")
_WHAT = gettext_lazy("Difference of two judges: alpha with mean (function compare_two_judges)")


@dataclass(frozen=True)
class _Candidate:
    """A judge that learned and its base, compared on the two parts."""

    judge: Judge
    base: Judge
    dimension: FrozenDimension
    selecting: JudgesCompared
    held_out: JudgesCompared

    @property
    def warning(self) -> str:
        """The indication of overfitting, or an empty string."""
        # Better where the best of many is chosen, but not surely where nothing is chosen.
        learned, kept = _alpha(self.selecting), _alpha(self.held_out)
        if learned.value is None or kept.value is None or learned.value <= 0:
            return ""
        # Without a p value a gain is not sure.
        p_value = self.held_out.adjusted.get("alpha", 1.0)
        if kept.value > 0 and p_value < SURE:
            return ""
        return _OVERFITTED.format(selecting=learned.value, held_out=kept.value)


def alignment_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return every version compared with its base, and other judges compared with the selected one."""
    # This result compares documents for selecting, which all others exclude.
    material = material_of(project, last_round(project), with_development=True)
    selecting = is_in_part(project, material, Part.SELECT)
    candidates = _candidates(project, material, selecting)
    rows = [_row(each) for each in candidates]
    # Only tested versions count as looks, because Holm corrects for these.
    says = _SAYS.format(looks=sum("alpha" in each.held_out.adjusted for each in candidates))
    table = Table("alignment", gettext("Versions"), _COLUMNS, rows, heads=3, says=says)
    learned = Section(gettext("Versions"), "" if candidates else str(_NONE), [table], "alignment")
    return [learned, _other_judges(project, chosen_judge(project, chosen), material, selecting)]


def answer_alignment(tables: Tables) -> str:
    """Return the versions that gained on the held-out documents."""
    table = tables.get("alignment")
    if table is None or not table.rows:
        return str(_NONE)
    keys = [column.key for column in table.columns]
    gains = [(row[keys.index("gain")], str(row[0].value)) for row in table.rows]
    sure = [name for cell, name in gains if cell.low is not None and cell.low > 0]
    if not sure:
        return gettext(
            "No version agrees better with people than the judge it comes from, as far as is known."
        )
    return gettext("{names} agrees better with people than the judge it comes from.").format(
        names=get_text_list(sure, gettext("and"))
    )


def version_of_alignment(project: Project) -> Sequence[object]:
    """Return a version that changes with judges, values or accepted proposals."""
    accepted = _used_proposals(project).order_by("pk")
    return [*version_of_judges(project), list(accepted.values_list("pk", "judge", "candidate"))]


def _used_proposals(project: Project) -> QuerySet[Proposal]:
    # A candidate that its search did not choose stays hidden.
    return Proposal.objects.filter(judge__project=project, candidate__isnull=False, candidate__tried_by=None)


def _candidates(project: Project, material: Material, selecting: npt.NDArray[np.bool_]) -> list[_Candidate]:
    accepted = _used_proposals(project)
    proposals = list(accepted.select_related("judge", "candidate").order_by("pk"))
    judges = {judge.pk: judge for each in proposals for judge in (each.judge, each.candidate) if judge}
    samples = samples_of(list(judges.values()), material)
    dimensions = {each.id: each for each in material.dimensions}
    pairs = [
        (judges[each.candidate_id], each.judge, dimensions[each.dimension_id])
        for each in proposals
        if each.candidate_id and each.dimension_id in dimensions
    ]
    pairs = [
        (judge, base, one)
        for judge, base, one in pairs
        if samples[judge.pk, one.key].given.any() and samples[base.pk, one.key].given.any()
    ]
    parts = [
        holm_over_pairs([compare_on(project, material, samples, part, *pair) for pair in pairs])
        # Each part has its own Holm correction, over all versions and dimensions.
        for part in (selecting, ~material.in_development)
    ]
    return [_Candidate(*pair, *compared) for pair, *compared in zip(pairs, *parts, strict=True)]


def _other_judges(project: Project, judge: Judge, material: Material, part: npt.NDArray[np.bool_]) -> Section:
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
    rows = [
        [
            text(one.name, key=one.key),
            text(other.name),
            *cells_of_part(found),
            number_or_reason(found.adjusted.get("alpha"), _alpha(found).reason or str(_NO_ITEM)),
        ]
        for (one, other), found in zip(pairs, compared, strict=True)
    ]
    says = _WAYS.format(judge=judge.name, looks=len(rows))
    table = Table("versions", gettext("Other judges"), _OTHER_COLUMNS, rows, heads=2, says=says)
    problem = "" if rows else gettext("No other judge has values on the documents for selecting.")
    return Section(gettext("Other judges on the documents for selecting"), problem, [table], "versions")


def compare_on(
    project: Project,
    material: Material,
    samples: SamplesOf,
    part: npt.NDArray[np.bool_],
    judge: Judge,
    base: Judge,
    dimension: FrozenDimension,
) -> tuple[str, str, int, dict[str, PairedDifference]]:
    """Compare a judge with another on some of the items, `part`: (items,)."""
    scores = [
        scores_of(material, dimension.key, samples[each.pk, dimension.key].of_items(part))
        for each in (judge, base)
    ]
    items, figures = compare_two_judges(
        scores[0],
        scores[1],
        measurement_level=dimension.measurement_level,
        generator=stream_of_pair(project, judge, base, dimension),
    )
    return judge.name, base.name, items, dict(figures)


_COLUMNS = [
    JUDGE,
    Column("base", lambda: gettext("Comes from"), ColumnKind.TEXT),
    DIMENSION,
    Column("select_items", lambda: gettext("items for selecting"), ColumnKind.COUNT),
    Column("select_before", lambda: gettext("alpha before, selecting")),
    Column("select_after", lambda: gettext("alpha after, selecting")),
    Column("select_gain", lambda: gettext("gain, selecting")),
    Column("items", lambda: gettext("held-out items"), ColumnKind.COUNT),
    Column("before", lambda: gettext("alpha before, held out")),
    Column("after", lambda: gettext("alpha after, held out")),
    Column("gain", lambda: gettext("gain, held out")),
    Column("p", lambda: gettext("p, held out"), ColumnKind.P_VALUE),
]


_OTHER_COLUMNS = [
    DIMENSION,
    JUDGE,
    Column("items", lambda: gettext("items"), ColumnKind.COUNT),
    Column("chosen", lambda: gettext("alpha of the chosen judge")),
    Column("other", lambda: gettext("alpha of this judge")),
    Column("gain", lambda: gettext("difference")),
    Column("p", "p", ColumnKind.P_VALUE),
]


def _row(each: _Candidate) -> list[Cell]:
    kept = _alpha(each.held_out)
    return [
        text(each.judge.name, warning=each.warning),
        text(each.base.name),
        text(each.dimension.name, key=each.dimension.key),
        *cells_of_part(each.selecting),
        *cells_of_part(each.held_out),
        number_or_reason(each.held_out.adjusted.get("alpha"), kept.reason or str(_NO_ITEM)),
    ]


def cells_of_part(compared: JudgesCompared) -> list[Cell]:
    """Return the number of items, alpha of the second judge, of the first, and the difference."""
    found = _alpha(compared)
    reason = found.reason or str(_NO_ITEM)
    return [
        Cell(compared.items),
        number_or_reason(found.second, reason),
        number_or_reason(found.first, reason),
        difference_cell(found, str(_WHAT)),
    ]


def _alpha(compared: JudgesCompared) -> PairedDifference:
    return compared.figures.get("alpha") or PairedDifference(None, 0, reason=str(_NO_ITEM))
