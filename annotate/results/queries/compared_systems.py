"""Every pair of systems on a dimension: raters and documents as samples, documents alone, or neither."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from django.utils.translation import gettext, gettext_lazy

from agreement import (
    CrossedDifferences,
    CrossedModelError,
    SystemDifference,
    crossed_differences,
    system_differences,
)
from agreement.crossed import OutlyingSystem, VarianceSource
from agreement.data import FloatArray, IntArray
from agreement.system_differences import KNOWN, adjust_p_values
from annotate.core.models import Project
from annotate.results.queries.by_system import mean_over_raters
from annotate.results.registry import Chosen, Parameter

RATERS, DOCUMENTS, TEXTS = "raters", "documents", "texts"
READINGS = {
    RATERS: gettext_lazy("raters and documents like these"),
    DOCUMENTS: gettext_lazy("these raters, documents like these"),
    TEXTS: gettext_lazy("these raters and these outputs only"),
}
_PAIRED = gettext_lazy(
    "Paired differences by document of the raters’ mean (function system_differences); t interval with n - 1 "
    "degrees of freedom; source: Student 1908."
)
_OF_THESE = gettext_lazy(
    "Difference of the raters’ mean over the documents that both have (function system_differences); where "
    "not all are rated, t interval with the finite population correction; sources: Student 1908; Cochran "
    "1977, section 2.6."
)
_HOW = gettext_lazy(
    "Crossed model of ratings, raters and documents random (function crossed_differences); variances by "
    "{method}; a system whose variance is larger than the others’ uses its own (F test, p < .15); t interval "
    "with Satterthwaite’s degrees of freedom; sources: Satterthwaite 1946; Bancroft 1944."
)
_SAYS = {
    RATERS: gettext_lazy(
        "Raters and documents are samples: a difference that counts is one that other raters like these "
        "would find on other documents like these (crossed model). Choose “{reading}” above to take "
        "the raters as given."
    ),
    DOCUMENTS: gettext_lazy(
        "Documents are a sample, raters are these: a difference that counts is one that they would "
        "find on other documents like these. Other raters may not; choose “{reading}” above to ask "
        "that."
    ),
    TEXTS: (
        gettext_lazy(
            "About these outputs only, as these raters score them. If every output is rated, the "
            "difference is "
            "known: there is no p value, and there are no ranks. Other outputs or raters may not show it; "
            "choose “{reading}” above to cover them."
        )
    ),
}
_DISCUSSED = gettext_lazy(
    "These values follow a discussion, in which raters came nearer to each other: other raters would differ "
    "by more than they do."
)
_MARKED = {
    VarianceSource.RATERS: gettext_lazy(
        "{dimension}: raters differ more about {systems} than about the other systems. Differences of such a "
        "system use its own variance."
    ),
    VarianceSource.DOCUMENTS: gettext_lazy(
        "{dimension}: scores of {systems} vary more between documents than those of the other systems. "
        "Differences of such a system use its own variance."
    ),
}
_MOST_TIMES = 100
Key = TypeVar("Key", bound=Hashable)


def reach_parameter(*readings: str) -> Parameter:
    """Return the parameter of the scope of differences; the first one is the default."""

    def options(_project: Project) -> Sequence[tuple[str, str]]:
        return [(each, str(READINGS[each])) for each in readings]

    return Parameter("about", gettext("About"), options)


ABOUT = reach_parameter(RATERS, DOCUMENTS, TEXTS)
PAIRS, DIMENSIONS = "pairs", "dimensions"


def _families(_project: Project) -> Sequence[tuple[str, str]]:
    return [(PAIRS, gettext("the pairs of a dimension")), (DIMENSIONS, gettext("all dimensions at once"))]


ACROSS = Parameter("across", gettext_lazy("Adjust p values over"), _families)


@dataclass(frozen=True)
class ComparedSystems:
    """Every pair of systems, with the method of comparison.

    crossed: the result of the crossed model; None if not chosen or not possible: `why_not` has the reason.
    """

    differences: Sequence[SystemDifference]
    how: str
    crossed: CrossedDifferences | None = None
    why_not: str = ""

    @property
    def is_known(self) -> bool:
        """Whether no difference has an error: ranks would then claim more than the question."""
        return bool(self.differences) and all(each.reason == KNOWN for each in self.differences)


def compare_systems(
    values: FloatArray, names: Sequence[str], chosen: Chosen, texts: IntArray, tables: int = 1
) -> ComparedSystems:
    """Compare systems by values (raters, documents, systems), NaN for gaps, as chosen.

    `texts`: (systems, systems), numbers of documents with outputs of both. tables: the number of compared
    tables of values; simultaneous intervals are valid for all of them if p values are adjusted over all
    dimensions.
    """
    tests = tables * len(names) * (len(names) - 1) // 2 if is_across_dimensions(chosen) else None
    why_not = ""
    if chosen.get(ABOUT.name, RATERS) == RATERS:
        try:
            found = crossed_differences(values, names, tests=tests)
        except CrossedModelError as undefined:
            why_not = str(undefined)
        else:
            return ComparedSystems(found.differences, _HOW.format(method=found.method), found)
    scores = mean_over_raters(values)
    if is_about_these_texts(chosen):
        return ComparedSystems(system_differences(scores, names, texts=texts, tests=tests), str(_OF_THESE))
    return ComparedSystems(system_differences(scores, names, tests=tests), str(_PAIRED), why_not=why_not)


def is_about_these_texts(chosen: Chosen) -> bool:
    """Return True if neither documents nor raters count as samples."""
    return chosen.get(ABOUT.name) == TEXTS


def is_across_dimensions(chosen: Chosen) -> bool:
    """Return True if p values are adjusted over all dimensions at once."""
    return chosen.get(ACROSS.name) == DIMENSIONS


def describe_adjustment(*, across: bool) -> str:
    """Return the tests over which p values are adjusted, and the way to choose otherwise."""
    if across:
        return gettext(
            "Adjusted p values are corrected over all pairs of all dimensions (Holm). Ranks hold for all "
            "dimensions at once."
        )
    return gettext(
        "Adjusted p values are corrected over all pairs of a dimension (Holm), not over dimensions. Choose "
        "“{across}” above to correct over all of them."
    ).format(across=gettext("all dimensions at once"))


def adjust_together(compared: Mapping[Key, ComparedSystems]) -> dict[Key, ComparedSystems]:
    """Return comparisons with p values adjusted by Holm over all pairs of all of them."""
    found = adjust_p_values([each for own in compared.values() for each in own.differences])
    start, adjusted = 0, {}
    for key, own in compared.items():
        end = start + len(own.differences)
        adjusted[key] = replace(own, differences=found[start:end])
        start = end
    return adjusted


def name_outlying_systems(outlying: Sequence[OutlyingSystem], source: VarianceSource) -> str:
    """Return the systems on which raters, or documents, differ more, with the ratio of variances.

    A mean square is, up to a factor, the variance of raters' (documents') means.
    """
    named = []
    for each in outlying:
        if each.source is source:
            times = (
                f"{each.ratio:.1f}"
                if each.ratio < _MOST_TIMES
                else gettext("over {most}").format(most=_MOST_TIMES)
            )
            named.append(
                gettext("{system} ({times} times the variance)").format(system=each.system, times=times)
            )
    return ", ".join(named)


def mark_outlying_systems(compared: Mapping[str, ComparedSystems]) -> str:
    """Return a message for each dimension, by name, and source with a system that varies more."""
    marked = [
        says.format(dimension=name, systems=systems)
        for name, each in compared.items()
        if each.crossed
        for source, says in _MARKED.items()
        if (systems := name_outlying_systems(each.crossed.outlying, source))
    ]
    return " ".join(marked)


def describe_reach(compared: Mapping[str, ComparedSystems], chosen: Chosen, *, independent: bool) -> str:
    """Return the interpretation in words, with the names of dimensions with another one, and the reason.

    independent: whether raters had not seen each other’s values.
    """
    by_reason: dict[str, list[str]] = {}
    for name, each in compared.items():
        if each.why_not:
            by_reason.setdefault(each.why_not, []).append(name)
    others = (
        gettext("{names}: by these raters only. {why}").format(names=", ".join(named), why=why)
        for why, named in by_reason.items()
    )
    about = chosen.get(ABOUT.name, RATERS)
    reading = READINGS[DOCUMENTS if about == RATERS else RATERS]
    caution = [str(_DISCUSSED)] if about == RATERS and not independent else []
    marked = mark_outlying_systems(compared)
    return " ".join([_SAYS[about].format(reading=reading), *caution, *others, *([marked] if marked else [])])
