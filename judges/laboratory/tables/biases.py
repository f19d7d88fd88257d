"""The laboratory's page of biases: every measure with its interval and a control without the bias."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from agreement.biases import (
    Bias,
    Control,
    correlated_errors,
    correlation_beyond_people,
    decline_with_quality,
    distribution_distance,
    later_places,
    modal_excess,
    option_order,
    perplexity_by_rating,
    place_preference,
    round_numbers,
    self_preference,
    severity,
    slope_beyond_quality,
    spread_of_samples,
    spread_ratio,
)
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.core.models import Judge
from judges.laboratory.tables.frequencies import frequencies_sections
from judges.results.queries.calls import AskedPlaces, asked_places
from judges.results.queries.texts import ItemTexts, texts_of, version_of_texts
from judges.results.tables.calls import (
    ABOUT_SCORES_BEFORE,
    BEFORE,
    Following,
    columns_by_place,
    correlations_by_place,
    distribution_table,
    followings,
)
from judges.results.tables.columns import ABOUT_INTERVALS_OF_M, JUDGE, number_or_reason
from judges.results.tables.compared import ComparedJudges, Scored, compared_values
from judges.results.tables.corrected import with_count_of_corrected
from judges.results.tables.metrics import version_of_metrics

_FOUND = gettext_lazy(
    "Found: the 95 % interval excludes the value without bias, and the result is outside the "
    "control. Intervals are not corrected for the number of biases: expect one false finding in "
    "twenty tests."
)
_ALL_DIMENSIONS = "all"
_NO_FIGURE = gettext_lazy("There is no result to compare with a control.")
_NO_CONTROL = gettext_lazy("The value without bias needs no control.")


@dataclass(frozen=True)
class _Kind:
    """A kind of bias: what its section is called and says, and its measures by column."""

    key: str
    title: str | Promise
    says: str | Promise
    measures: Mapping[str, str | Promise]
    caution: str | Promise = ""


@dataclass(frozen=True)
class _Row:
    """The measures of a kind for one judge (on one dimension), and cells beside them."""

    names: Sequence[Cell]
    biases: Sequence[Bias]
    beside: Sequence[Cell] = ()


_SEVERITY = _Kind(
    "severity",
    gettext_lazy("Severity and use of the range"),
    gettext_lazy(
        "Severity is the judge’s mean minus people’s. The ratio of standard deviations is below 1 if "
        "a judge uses less of the range than a person. Excess of the most frequent point, and the "
        "distance of the values from people’s (Wasserstein). The control compares each person with "
        "the others: the least and the largest."
    ),
    {
        "severity": "severity",
        "spread": gettext_lazy("SD ratio"),
        "modal": gettext_lazy("most frequent point"),
        "distance": "distance",
    },
)
_LENGTH = _Kind(
    "length",
    "Length",
    gettext_lazy(
        "Points by which the judge is above people for an output one standard deviation longer "
        "(logarithm of its characters), within systems. Control: the judge’s errors shuffled across "
        "items."
    ),
    {"length": gettext_lazy("points for longer texts")},
)
_FAMILIARITY = _Kind(
    "familiarity",
    "Familiarity",
    gettext_lazy(
        "Points by which the judge is above people for an output with a perplexity one standard "
        "deviation higher, within systems; below 0 it prefers outputs that are familiar to a model."
    ),
    {"familiarity": gettext_lazy("points for less familiar texts")},
)
_FAMILY = _Kind(
    "self-preference",
    "Self-preference",
    gettext_lazy("The judge’s mean error on systems of its family, minus its mean error on other systems."),
    {"self_preference": gettext_lazy("for its own family")},
)
_ANCHORING = _Kind(
    "anchoring",
    gettext_lazy("Anchoring between dimensions"),
    gettext_lazy(
        "Correlation of errors: over pairs of dimensions, of the judge’s differences from people; 0 "
        "if the judge treats each dimension separately. Beyond people: the mean |r| between "
        "dimensions, judge minus people; errors alone reduce it, see the control."
    ),
    {"errors": gettext_lazy("correlation of errors"), "beyond": gettext_lazy("correlation beyond people")},
)
_BEFORE = _Kind(
    "score-before",
    gettext_lazy("Anchoring to the score before"),
    gettext_lazy(
        "For calls with several dimensions: each dimension compared with the one before it, by the "
        "measures above. Pearson of judge and people uses the same items."
    ),
    {
        "errors": gettext_lazy("errors with the dimension before"),
        "beyond": gettext_lazy("beyond people, dimension before"),
    },
)
_PLACE = _Kind(
    "place",
    gettext_lazy("Position in a call"),
    gettext_lazy(
        "The effect of other dimensions before a dimension in the call, compared with its results as "
        "the first: its correlation with people (Pearson), and its mean error in points. Control: the"
        " positions shuffled across items. Kendall’s correlation is listed for each position."
    ),
    {
        "correlation": gettext_lazy("correlation, later minus first"),
        "shift": gettext_lazy("mean error, later minus first"),
    },
)
_PAIRS = _Kind(
    "position",
    gettext_lazy("Position in a pair"),
    gettext_lazy(
        "Of the outcomes that change when the two outputs are swapped: 1 if all go to the second "
        "output, −1 if all to the first. p is McNemar’s exact one."
    ),
    {"place": gettext_lazy("towards the second text")},
)
_OPTIONS = _Kind(
    "options",
    gettext_lazy("Order of options"),
    gettext_lazy(
        "The same model with the options of a multiple choice in reverse order. The shift is above 0 "
        "if it prefers the first options."
    ),
    {"shift": gettext_lazy("shift to the first option"), "changed": gettext_lazy("items that change")},
)
_ROUND = _Kind(
    "round-numbers",
    gettext_lazy("Round numbers"),
    gettext_lazy(
        "The share of multiples of 5 and 10 among answers on a long scale, minus their share of its points."
    ),
    {"fives": gettext_lazy("multiples of 5"), "tens": gettext_lazy("multiples of 10")},
)
_REPEATS = _Kind(
    "self-inconsistency",
    "Self-inconsistency",
    gettext_lazy(
        "The standard deviation of a judge’s samples of one item, in points; the control is people who "
        "rate one"
        " item."
    ),
    {"samples": gettext_lazy("SD of samples")},
)
_QUALITY = _Kind(
    "quality",
    gettext_lazy("Decline with quality"),
    gettext_lazy(
        "M: the correlation over systems of the judge’s agreement with people and the mean human score. "
        "Control: the judge’s errors shuffled across items; near the end of a scale M is below 0 for any "
        "judge."
    ),
    {"m": gettext_lazy("M, Spearman")},
    ABOUT_INTERVALS_OF_M,
)
_NEEDS_PAIRS = gettext_lazy(
    "Needs a judge that compares two outputs (head to head, pairwise), in both orders."
)
_NEEDS_OPTIONS = gettext_lazy(
    "Needs two judges of one model, by “Multiple choice” and by “Multiple choice, options reversed”."
)
_NEEDS_PERPLEXITY = gettext_lazy(
    "Needs a metric with “perplexity” in its name: measure it with a model that returns log-"
    "probabilities (manage.py perplexity), or import the perplexity of each output (Data, "
    "Metrics)."
)
_BY_RATING = gettext_lazy(
    "Mean perplexity at each rating of an output; a value between two points counts as the "
    "nearer one. Both columns use the same outputs. If a judge prefers familiar outputs, its "
    "means fall more steeply with the rating than people’s."
)
_NEEDS_DIMENSIONS = gettext_lazy("A judge with values on two dimensions of the same items is needed.")
_NEEDS_SEVERAL = gettext_lazy("A judge by the method “Several dimensions in one call” is needed.")
_NEEDS_ROTATION = gettext_lazy(
    "A judge by the method “Several dimensions in one call”, in rotated order, is needed."
)
_NAMED = gettext_lazy("anything: categories have no distance")
_SENSITIVITY = gettext_lazy(
    "The table of variants on the laboratory’s first page shows the effect of wording, scale and method: "
    "alpha and mean shift between two variants."
)


@dataclass
class _Page:
    """Sections as they are made, and what was found by judge and dimension."""

    sections: list[Section] = field(default_factory=list)
    found: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    unknown: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, kind: _Kind, rows: Sequence[_Row], needs: str = "", beside: Sequence[Column] = ()) -> None:
        """Add a section: a table where any of its figures is defined, else what is needed for it."""
        self._note(kind, rows)
        reasons = {bias.measured.reason or "" for row in rows for bias in row.biases}
        if not any(bias.measured.defined for row in rows for bias in row.biases):
            said = needs or " ".join(sorted(reasons)) or gettext("No judge gives values here yet.")
            self.sections.append(Section(str(kind.title), said, [], kind.key))
            return
        columns = [JUDGE, DIMENSION, *_columns(kind.measures), *beside]
        cells = [[*row.names, *_cells(row.biases), *row.beside] for row in rows]
        table = Table(kind.key, str(kind.title), columns, cells, heads=2)
        self.sections.append(
            Section(str(kind.title), f"{kind.says} {kind.caution}".strip(), [table], kind.key)
        )

    def summary(self) -> Section:
        """Return the first section: what was found for each judge and dimension."""
        columns = [
            JUDGE,
            DIMENSION,
            Column("found", gettext("found"), ColumnKind.TEXT),
            Column("unknown", gettext("not identifiable yet"), ColumnKind.TEXT),
        ]
        rows = [
            [
                *map(text, names),
                text("; ".join(self.found.get(names, [])) or gettext("nothing")),
                text("; ".join(self.unknown.get(names, [])) or gettext("nothing")),
            ]
            for names in dict.fromkeys([*self.found, *self.unknown])
        ]
        table = Table("biases", gettext("Biases found"), columns, rows, heads=2)
        return Section(gettext("Finding"), str(_FOUND), [table] if rows else [], "found")

    def _note(self, kind: _Kind, rows: Iterable[_Row]) -> None:
        for row in rows:
            judge, dimension = (str(cell.value) for cell in row.names)
            found = self.found.setdefault((judge, dimension), [])
            for name, bias in zip(kind.measures.values(), row.biases, strict=True):
                if not bias.measured.defined:
                    self.unknown.setdefault((judge, dimension), []).append(str(name))
                elif _is_found(bias):
                    found.append(f"{name} {bias.measured.value:+.2f}".replace("-", "−"))


def biases_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return every bias of every judge, with a summary in front.

    Raises NoJudgesError where there is no judge. Fifteen queries, and one more for each judge that compares.
    """
    found = compared_values(project, chosen)
    texts = texts_of(project)
    page = _Page()
    amounts = found.with_amounts
    page.add(_SEVERITY, [_Row(each.names, _severity(each)) for each in amounts])
    page.add(_LENGTH, _slopes(amounts, texts.log_length, "length", gettext("Slope of errors on log length")))
    familiar = texts.log_perplexity
    if familiar is None:
        page.add(_FAMILIARITY, [], str(_NEEDS_PERPLEXITY))
    else:
        page.add(_FAMILIARITY, _slopes(amounts, familiar, "perplexity", gettext("Slope on log perplexity")))
        title = gettext("Mean perplexity by rating")
        by_rating = _by_rating(amounts, familiar, "by-rating", title)
        page.sections.append(Section(gettext("Perplexity by rating"), "", [by_rating], "by-rating"))
    if texts.log_document_perplexity is not None:
        title = gettext("Mean perplexity of documents by rating")
        by_rating = _by_rating(amounts, texts.log_document_perplexity, "documents-by-rating", title)
        page.sections.append(Section(title, "", [by_rating], "documents-by-rating"))
    page.add(_FAMILY, [_Row(each.names, [_family(each, texts)]) for each in amounts])
    page.add(_ANCHORING, list(_anchoring(found)), str(_NEEDS_DIMENSIONS))
    _add_calls(page, amounts, asked_places(found.judges, texts.items))
    pairs = [(each, place_preference(each.verdicts, generator=each.stream)) for each in found.versus]
    page.add(
        _PAIRS,
        [
            _Row(
                each.names,
                [place.bias],
                [Cell(place.to_first), Cell(place.to_second), _mcnemar(place.p_value)],
            )
            for each, place in pairs
        ],
        str(_NEEDS_PAIRS),
        [
            Column("to_first", gettext("to the first"), ColumnKind.COUNT),
            Column("to_second", gettext("to the second"), ColumnKind.COUNT),
            Column("p", "p", ColumnKind.P_VALUE),
        ],
    )
    page.add(_OPTIONS, list(_options(amounts)), str(_NEEDS_OPTIONS))
    page.add(_ROUND, [_Row(each.names, _round_numbers(each)) for each in amounts])
    page.sections += frequencies_sections(found)
    page.add(_REPEATS, [_Row(each.names, [_spread(each)]) for each in amounts])
    for each in found.with_names:
        page.unknown[each.judge.name, each.dimension.name] = [str(_NAMED)]
    page.add(_QUALITY, [_Row(each.names, [_decline(each)]) for each in amounts])
    sensitivity = Section(gettext("Prompt sensitivity"), str(_SENSITIVITY), [], "sensitivity")
    return with_count_of_corrected([page.summary(), *page.sections, sensitivity], found.judges, chosen)


def version_of_biases(project: Project) -> Sequence[object]:
    """Return what no change of values, perplexities or families leaves as it was. Eight queries."""
    return [*version_of_metrics(project), *version_of_texts(project)]


def _severity(each: Scored) -> list[Bias]:
    scores, stream = each.scores, each.stream
    points = np.array(each.dimension.values, dtype=float)
    return [
        severity(scores, generator=stream),
        spread_ratio(scores, generator=stream),
        modal_excess(scores, points, generator=stream),
        distribution_distance(scores, points, generator=stream),
    ]


def _slopes(scored: Sequence[Scored], values: npt.NDArray[np.float64], name: str, label: str) -> list[_Row]:
    return [
        _Row(each.names, [slope_beyond_quality(each.scores, values, name, label, generator=each.stream)])
        for each in scored
    ]


def _by_rating(
    scored: Sequence[Scored], log_perplexity: npt.NDArray[np.float64], key: str, title: str
) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("rating", gettext("rating"), ColumnKind.NUMBER),
        Column("judge_mean", gettext("rated so by the judge")),
        Column("people_mean", gettext("rated so by people")),
    ]
    rows = []
    for each in scored:
        points = np.array(each.dimension.values, dtype=float)
        found = perplexity_by_rating(each.scores, log_perplexity, points, generator=each.stream)
        for point, means in zip(points.tolist(), found, strict=True):
            rows.append([*each.names, Cell(point), *map(figure, means)])
    return Table(key, title, columns, rows, heads=3, says=str(_BY_RATING))


def _family(each: Scored, texts: ItemTexts) -> Bias:
    return self_preference(each.scores, texts.of_family(each.judge.model), generator=each.stream)


def _anchoring(found: ComparedJudges) -> Iterable[_Row]:
    for judge in found.judges:
        own = [each for each in found.scored_by(judge) if not each.dimension.is_named]
        if len(own) > 1:
            scores, stream = [each.scores for each in own], own[0].stream
            measures: Sequence[Callable[..., Bias]] = (correlated_errors, correlation_beyond_people)
            names = [text(judge.name), text(_ALL_DIMENSIONS)]
            yield _Row(names, [measure(scores, generator=stream) for measure in measures])


def _add_calls(page: _Page, scored: Sequence[Scored], places: Mapping[tuple[int, int], AskedPlaces]) -> None:
    """Add what the score before and the place in a call do."""
    following = list(followings(scored, places))
    page.add(_BEFORE, [_follow(each) for each in following], str(_NEEDS_SEVERAL), BEFORE)
    if following:
        judges = {each.after.judge.pk: each.after.judge for each in following}
        tables = [
            distribution_table(judge, [each for each in following if each.after.judge == judge])
            for judge in judges.values()
        ]
        title = gettext("Scores by the score before")
        page.sections.append(Section(title, str(ABOUT_SCORES_BEFORE), tables, "given-before"))
    asked = [
        (each, own) for each in scored if (own := places.get((each.judge.pk, each.dimension.id))) is not None
    ]
    most = int(max((np.nanmax(own.places) for _, own in asked), default=-1)) + 1
    rows = [_compare_places(each, own, most) for each, own in asked]
    page.add(_PLACE, rows, str(_NEEDS_ROTATION), columns_by_place(most))


def _follow(each: Following) -> _Row:
    stream = each.after.stream.of("before", each.before.dimension.key)
    measures: Sequence[Callable[..., Bias]] = (correlated_errors, correlation_beyond_people)
    return _Row(each.after.names, [of(each.scores, generator=stream) for of in measures], each.beside)


def _compare_places(each: Scored, asked: AskedPlaces, most: int) -> _Row:
    found = later_places(each.scores, asked.places, generator=each.stream)
    return _Row(each.names, [found.correlation, found.shift], correlations_by_place(each, asked, most))


def _options(scored: Sequence[Scored]) -> Iterable[_Row]:
    backwards = [each for each in scored if each.judge.method == "mcq_reversed"]
    for each in scored:
        for other in backwards if each.judge.method == "mcq" else []:
            if other.dimension.key == each.dimension.key and _is_same_model(each.judge, other.judge):
                stream = each.stream.of("reversed", other.judge.name)
                documents = each.scores.documents
                both = each.scores.judge, other.scores.judge
                yield _Row(each.names, option_order(*both, documents, generator=stream))


def _is_same_model(first: Judge, second: Judge) -> bool:
    return first.model == second.model


def _round_numbers(each: Scored) -> list[Bias]:
    scale = each.judge.own_scale
    lowest, highest = (
        (scale.minimum, scale.maximum)
        if scale
        else (each.dimension.scale_minimum, each.dimension.scale_maximum)
    )
    found = round_numbers(each.said.as_read, each.scores.documents, lowest, highest, generator=each.stream)
    return [found.fives, found.tens]


def _spread(each: Scored) -> Bias:
    return spread_of_samples(each.samples, each.scores.human, each.scores.documents, generator=each.stream)


def _decline(each: Scored) -> Bias:
    return decline_with_quality(each.scores, each.meta_correlations["spearman"], generator=each.stream)


def _mcnemar(p_value: float | None) -> Cell:
    return number_or_reason(
        p_value,
        gettext("No outcome changed."),
        gettext("McNemar’s exact test, two-sided (function place_preference)."),
    )


def _columns(measures: Mapping[str, str | Promise]) -> list[Column]:
    return [
        column
        for key, name in measures.items()
        for column in (
            Column(key, str(name), decimals=2),
            Column(f"{key}_control", gettext("control"), decimals=2),
        )
    ]


def _cells(biases: Sequence[Bias]) -> list[Cell]:
    return [cell for bias in biases for cell in (figure(bias.measured), _control(bias))]


def _control(bias: Bias) -> Cell:
    control = bias.control
    if control is None:
        return Cell(reason=str(_NO_CONTROL) if bias.measured.defined else str(_NO_FIGURE))
    how = gettext("The same statistic of {group}: mean, minimum and maximum.").format(group=control.of)
    return Cell(control.mean, low=control.least, high=control.largest, how=how)


def _is_found(bias: Bias) -> bool:
    return bool(bias.is_apart) and not _is_within(bias.control, bias.measured.value)


def _is_within(control: Control | None, value: float | None) -> bool:
    return control is not None and value is not None and control.least <= value <= control.largest
