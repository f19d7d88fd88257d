"""Judges that learned from the development documents, beside the judges they come from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext, gettext_lazy

from agreement import PairedDifference
from agreement.comparison import JudgesCompared, compare_two_judges, holm_over_pairs
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.core.rounds import last_round
from annotate.results.page import Section
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.core.models import Judge, Proposal
from judges.results.queries.comparison import guideline_of
from judges.results.queries.scores import Material, SamplesOf, material_of, samples_of, scores_of
from judges.results.tables.columns import JUDGE, difference_cell, number_or_reason
from judges.results.tables.streams import stream_of_pair
from judges.results.tables.version import version_of_judges

SURE = 0.05
_SAYS = gettext_lazy(
    "Alpha of each judge with people’s mean, and the difference to its base judge, on the items "
    "with values of both judges and people. The development documents are those it learned from; "
    "only the held-out documents show its quality. Intervals resample documents, the same for "
    "both judges. p tests the held-out difference, with Holm’s correction over judges and over "
    "dimensions, {looks} looks at held-out documents in total. A search runs its candidates on "
    "development documents alone, where the best of many looks better than it is; only its choice"
    " runs on the others."
)
_NONE = gettext_lazy(
    "No aligned judge has values yet. Accept a proposal under Laboratory > Alignment, and run its judge."
)
_OVERFITTED = gettext_lazy(
    "Better on the development documents ({development:+.3f}), but not significantly on the held-"
    "out documents ({held_out:+.3f}): it may be overfitted to its documents."
)
_NO_ITEM = gettext_lazy("No item of this part has values of both judges and people.")
_WHAT = gettext_lazy("Difference of two judges: alpha with mean (function compare_two_judges)")


@dataclass(frozen=True)
class _Candidate:
    """A judge that learned, the one it comes from, and both compared on the two parts."""

    judge: Judge
    base: Judge
    dimension: FrozenDimension
    development: JudgesCompared
    held_out: JudgesCompared

    @property
    def warning(self) -> str:
        """What speaks for overfitting, or nothing."""
        learned, kept = _alpha(self.development), _alpha(self.held_out)
        if learned.value is None or kept.value is None or learned.value <= 0:
            return ""
        p_value = self.held_out.adjusted.get("alpha", 1.0)
        if kept.value > 0 and p_value < SURE:
            return ""
        return _OVERFITTED.format(development=learned.value, held_out=kept.value)


def alignment_sections(project: Project, _chosen: Chosen) -> list[Section]:
    """Return every judge that learned or was tried, beside the one it comes from. Twelve queries."""
    candidates = _candidates(project)
    rows = [_row(each) for each in candidates]
    says = _SAYS.format(looks=sum("alpha" in each.held_out.adjusted for each in candidates))
    table = Table(
        "alignment", gettext("Development and held-out agreement"), _COLUMNS, rows, heads=3, says=says
    )
    return [Section(gettext("Aligned judges"), "" if candidates else str(_NONE), [table], "alignment")]


def version_of_alignment(project: Project) -> Sequence[object]:
    """Return what no change of judges, values or accepted proposals leaves as it was."""
    accepted = Proposal.objects.filter(judge__project=project, candidate__isnull=False).order_by("pk")
    return [*version_of_judges(project), list(accepted.values_list("pk", "judge", "candidate"))]


def _candidates(project: Project) -> list[_Candidate]:
    accepted = Proposal.objects.filter(judge__project=project, candidate__isnull=False)
    proposals = list(accepted.select_related("judge", "candidate").order_by("pk"))
    last = last_round(project)
    material = material_of(project, last, guideline_of(project, last), with_development=True)
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
        for part in (material.in_development, ~material.in_development)
    ]
    return [_Candidate(*pair, *compared) for pair, *compared in zip(pairs, *parts, strict=True)]


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
    Column("development_items", lambda: gettext("development items"), ColumnKind.COUNT),
    Column("development_before", lambda: gettext("alpha before, development")),
    Column("development_after", lambda: gettext("alpha after, development")),
    Column("development_gain", lambda: gettext("gain, development")),
    Column("items", lambda: gettext("held-out items"), ColumnKind.COUNT),
    Column("before", lambda: gettext("alpha before, held out")),
    Column("after", lambda: gettext("alpha after, held out")),
    Column("gain", lambda: gettext("gain, held out")),
    Column("p", lambda: gettext("p, held out"), ColumnKind.P_VALUE),
]


def _row(each: _Candidate) -> list[Cell]:
    kept = _alpha(each.held_out)
    return [
        text(each.judge.name, warning=each.warning),
        text(each.base.name),
        text(each.dimension.name, key=each.dimension.key),
        *cells_of_part(each.development),
        *cells_of_part(each.held_out),
        number_or_reason(each.held_out.adjusted.get("alpha"), kept.reason or str(_NO_ITEM)),
    ]


def cells_of_part(compared: JudgesCompared) -> list[Cell]:
    """Return how many items, alpha of the second judge, of the first, and the difference."""
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
