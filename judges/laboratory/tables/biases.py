"""The laboratory's page of biases: every measure with its interval and a control without the bias."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, ngettext

from agreement import Stream, kendall_tau_b
from agreement.biases import (
    Bias,
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
from agreement.comparison import Scores, correlation_with_humans
from annotate.core.models import Project
from annotate.results.answers import column_of
from annotate.results.registry import Chosen, Tables
from annotate.results.table import (
    DIMENSION,
    GOOD,
    PARTLY,
    Cell,
    Column,
    ColumnKind,
    Section,
    Table,
    figure,
    text,
)
from judges.core.models import Judge
from judges.laboratory.tables import kinds_of_bias as kinds
from judges.laboratory.tables.kinds_of_bias import (
    ABOUT_SCORES_BEFORE,
    COLUMNS_BEFORE,
    CallPositions,
    Following,
    distribution_table,
    followings,
    load_call_positions,
)
from judges.results.queries.texts import ItemTexts, texts_of, version_of_texts
from judges.results.tables.columns import add_correction_count, add_gaps, number_or_reason
from judges.results.tables.compared import Scored, Versus, align_raters, compared_values
from judges.results.tables.metrics import version_of_metrics
from judges.results.tables.parameters import chosen_judge

_FOUND = gettext_lazy(
    "Found: the 95 % interval excludes the value without bias, and the result is outside the "
    "control. Intervals are not corrected for the number of biases: expect one false finding in "
    "twenty tests."
)
_ALL_DIMENSIONS = "all"
FOUND_ON = "found_on"
_NO_FIGURE = gettext_lazy("There is no result to compare with a control.")
_NO_CONTROL = gettext_lazy("The value without bias needs no control.")


@dataclass(frozen=True)
class _Row:
    """The measures of a kind on one dimension, and additional cells."""

    dimension: Cell
    biases: Sequence[Bias]
    beside: Sequence[Cell] = ()


@dataclass
class _Page:
    """Sections in order of creation, and by measure the rows of the first table."""

    sections: list[Section] = field(default_factory=list)
    findings: list[tuple[int, int, list[Cell]]] = field(default_factory=list)

    def add(
        self, kind: kinds.KindOfBias, rows: Sequence[_Row], needs: str = "", beside: Sequence[Column] = ()
    ) -> None:
        """Add a section: a table if any of its values is defined, else the missing requirements."""
        reasons = {bias.measured.reason or "" for row in rows for bias in row.biases}
        needs = needs or " ".join(sorted(reasons)) or gettext("The judge gives no values here yet.")
        # The first table counts each measure by the dimensions on which it is tested and found.
        for index, name in enumerate(kind.measures.values()):
            measured = [(row.dimension, row.biases[index]) for row in rows]
            tested = [(dimension, bias) for dimension, bias in measured if bias.is_tested]
            found = [
                f"{dimension.value} {bias.measured.value:+.2f}".replace("-", "−")
                for dimension, bias in tested
                if bias.is_found
            ]
            if tested:
                tone = PARTLY if found else GOOD
                where = Cell("; ".join(found) or gettext("no dimension"), tone=tone)
                cells = [text(str(kind.title)), text(str(name)), where, Cell(len(found)), Cell(len(tested))]
                self.findings.append((len(found), len(tested), cells))
        # Without any value the section lists the missing requirements instead of a table.
        if not any(bias.measured.defined for row in rows for bias in row.biases):
            self.sections.append(Section(str(kind.title), needs, [], kind.key))
            return
        columns = [DIMENSION, *_columns(kind.measures), *beside]
        shown = [[row.dimension, *_cells(row.biases), *row.beside] for row in rows]
        table = Table(kind.key, str(kind.title), columns, shown)
        self.sections.append(
            Section(str(kind.title), f"{kind.says} {kind.caution}".strip(), [table], kind.key)
        )

    def summary(self, judge: Judge) -> Section:
        columns = [
            Column("bias", gettext("bias"), ColumnKind.TEXT),
            Column("measure", gettext("measure"), ColumnKind.TEXT),
            Column("found", gettext("dimensions"), ColumnKind.TEXT),
            Column(FOUND_ON, gettext("found"), ColumnKind.COUNT),
            Column("tested_on", gettext("tested"), ColumnKind.COUNT),
        ]
        ordered = sorted(self.findings, key=lambda each: each[:2], reverse=True)
        title = gettext("Biases of {judge}").format(judge=judge.name)
        table = Table("biases", title, columns, [row for *_, row in ordered], heads=2)
        return Section(gettext("Finding"), str(_FOUND), [table] if ordered else [], "found")


def answer_biases(tables: Tables) -> str:
    """Return the number of measures that find a bias, and their kinds."""
    table = tables.get("biases")
    if table is None:
        return gettext("No bias can be tested yet.")
    tested = len(table.rows)
    found = [
        str(bias.value)
        for bias, on in zip(column_of(table, "bias"), column_of(table, FOUND_ON), strict=True)
        if on.value
    ]
    if not found:
        return gettext("None of the {tested} measures that can be tested finds a bias.").format(tested=tested)
    return ngettext(
        "{found} of {tested} measures finds a bias: {kinds}.",
        "{found} of {tested} measures find a bias: {kinds}.",
        len(found),
    ).format(found=len(found), tested=tested, kinds="; ".join(dict.fromkeys(found)))


def biases_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return every bias of the selected judge, with a summary first. Up to seventeen queries."""
    judge = chosen_judge(project, chosen)
    backwards = Judge.objects.filter(project=project, method="mcq_reversed", model=judge.model)
    # Option order needs the same model with the options reversed.
    others = list(backwards.order_by("name")) if judge.method == "mcq" else []
    found = compared_values(project, chosen, [judge, *others])
    texts = texts_of(project)
    page = _Page()
    scored = found.scored_by(judge)
    amounts = [each for each in scored if not each.dimension.is_named]
    page.add(kinds.SEVERITY, [_Row(_dimension(each), _severity(each)) for each in amounts])
    label = gettext("Slope on log length at equal quality")
    # At equal quality: a judge with a narrow range errs more on better texts, which are often longer.
    page.add(kinds.LENGTH, _slopes(amounts, texts.log_length, "length", label))
    _add_familiarity(page, amounts, texts)
    page.add(kinds.FAMILY, [_Row(_dimension(each), [_family(each, texts)]) for each in amounts])
    page.add(kinds.ANCHORING, _anchoring(amounts), str(kinds.NEEDS_DIMENSIONS))
    _add_calls(page, judge, amounts, load_call_positions(judge, texts.items))
    page.add(
        kinds.PAIRS,
        [_pairs(each) for each in found.compared_by(judge)],
        str(kinds.NEEDS_PAIRS),
        [
            Column("to_first", gettext("to the first"), ColumnKind.COUNT),
            Column("to_second", gettext("to the second"), ColumnKind.COUNT),
            Column("p", "p", ColumnKind.P_VALUE),
        ],
    )
    reversed_options = [each for other in others for each in found.scored_by(other)]
    page.add(kinds.OPTIONS, list(_options(amounts, reversed_options)), str(kinds.NEEDS_OPTIONS))
    page.add(kinds.ROUND, [_Row(_dimension(each), _round_numbers(each)) for each in amounts])
    page.sections += frequencies_sections(judge, amounts)
    page.add(kinds.REPEATS, [_Row(_dimension(each), [_spread(each)]) for each in amounts])
    page.add(kinds.QUALITY, [_Row(_dimension(each), [_decline(each)]) for each in amounts])
    if named := [each.dimension.name for each in scored if each.dimension.is_named]:
        page.sections.append(Section(", ".join(named), str(kinds.NAMED), []))
    sensitivity = Section(gettext("Prompt sensitivity"), str(kinds.SENSITIVITY), [], "sensitivity")
    sections = [page.summary(judge), *page.sections, sensitivity]
    return add_correction_count(add_gaps(sections, [judge], chosen), [judge], chosen)


def version_of_biases(project: Project) -> Sequence[object]:
    """Return a version that changes with values, perplexities or families. Eight queries."""
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


def _dimension(each: Scored | Versus) -> Cell:
    return text(each.dimension.name, key=each.dimension.key)


def _slopes(scored: Sequence[Scored], values: npt.NDArray[np.float64], name: str, label: str) -> list[_Row]:
    return [
        _Row(
            _dimension(each), [slope_beyond_quality(each.scores, values, name, label, generator=each.stream)]
        )
        for each in scored
    ]


def _add_familiarity(page: _Page, scored: Sequence[Scored], texts: ItemTexts) -> None:
    """Add the slope on perplexity, and means of perplexity by rating, of outputs and of documents."""
    familiar = texts.log_perplexity
    label = gettext("Slope on log perplexity at equal quality")
    rows = [] if familiar is None else _slopes(scored, familiar, "perplexity", label)
    page.add(kinds.FAMILIARITY, rows, "" if rows else str(kinds.NEEDS_PERPLEXITY))
    for values, key, title in (
        (familiar, "by-rating", gettext("Mean perplexity by rating")),
        (
            texts.log_document_perplexity,
            "documents-by-rating",
            gettext("Mean perplexity of documents by rating"),
        ),
    ):
        if values is not None:
            page.sections.append(Section(title, "", [_table_by_rating(scored, values, key, title)], key))


def _table_by_rating(
    scored: Sequence[Scored], log_perplexity: npt.NDArray[np.float64], key: str, title: str
) -> Table:
    columns = [
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
            rows.append([_dimension(each), Cell(point), *map(figure, means)])
    return Table(key, title, columns, rows, heads=2, says=str(kinds.BY_RATING))


def _family(each: Scored, texts: ItemTexts) -> Bias:
    return self_preference(each.scores, texts.is_of_family(each.judge.model), generator=each.stream)


def _anchoring(scored: Sequence[Scored]) -> list[_Row]:
    # The measure is between dimensions.
    if len(scored) < 2:
        return []
    return [_regress_dimensions(text(_ALL_DIMENSIONS), align_raters(scored), scored[0].stream)]


def _regress_dimensions(
    name: Cell, dimensions: Sequence[Scores], stream: Stream, beside: Sequence[Cell] = ()
) -> _Row:
    measures: Sequence[Callable[..., Bias]] = (correlated_errors, correlation_beyond_people)
    return _Row(name, [of(dimensions, generator=stream) for of in measures], beside)


def _add_calls(
    page: _Page, judge: Judge, scored: Sequence[Scored], positions: Mapping[int, CallPositions]
) -> None:
    following = list(followings(scored, positions))
    page.add(kinds.BEFORE, [_follow(each) for each in following], str(kinds.NEEDS_SEVERAL), COLUMNS_BEFORE)
    if following:
        table = distribution_table(judge, following)
        title = gettext("Scores by the score before")
        page.sections.append(Section(title, str(ABOUT_SCORES_BEFORE), [table], "given-before"))
    # Judges with several dimensions in a call: agreement by the dimension's position in it.
    asked = [(each, own) for each in scored if (own := positions.get(each.dimension.id)) is not None]
    # -1 makes no column if no call had several dimensions.
    most = int(max((np.nanmax(own.positions) for _, own in asked), default=-1)) + 1
    columns = [
        Column(f"place_{place}", gettext("Kendall, position {position}").format(position=place), decimals=2)
        for place in range(1, most + 1)
    ]
    rows = [_compare_positions(each, own, most) for each, own in asked]
    page.add(kinds.POSITION, rows, str(kinds.NEEDS_ROTATION), columns)


def _follow(each: Following) -> _Row:
    stream = each.after.stream.of("before", each.before.dimension.key)
    return _regress_dimensions(_dimension(each.after), each.scores, stream, each.beside)


def _compare_positions(each: Scored, asked: CallPositions, most: int) -> _Row:
    found = later_places(each.scores, asked.positions, generator=each.stream)
    beside = [
        figure(
            correlation_with_humans(
                each.scores.of_items(asked.positions == position),
                kendall_tau_b,
                generator=each.stream.of("place", str(position)),
            )
        )
        for position in range(most)
    ]
    return _Row(_dimension(each), [found.correlation, found.shift], beside)


def _pairs(each: Versus) -> _Row:
    preference = place_preference(each.verdicts, generator=each.stream)
    p_value = preference.p_value
    mcnemar = number_or_reason(
        p_value,
        gettext("No outcome changed."),
        gettext("McNemar’s exact test, two-sided (function place_preference)."),
    )
    beside = [Cell(preference.to_first), Cell(preference.to_second), mcnemar]
    return _Row(_dimension(each), [preference.bias], beside)


def _options(scored: Sequence[Scored], backwards: Sequence[Scored]) -> Iterable[_Row]:
    for each in scored:
        for other in backwards:
            if other.dimension.key == each.dimension.key:
                stream = each.stream.of("reversed", other.judge.name)
                documents = each.scores.documents
                both = each.scores.judge, other.scores.judge
                yield _Row(_dimension(each), option_order(*both, documents, generator=stream))


def _round_numbers(each: Scored) -> list[Bias]:
    scale = each.judge.own_scale
    # Round numbers are the ones of the scale that the judge uses.
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
    if bias.control_reason:
        return Cell(reason=bias.control_reason)
    if control is None:
        return Cell(reason=str(_NO_CONTROL) if bias.measured.defined else str(_NO_FIGURE))
    how = gettext("The same statistic of {group}: mean, minimum and maximum.").format(group=control.of)
    return Cell(control.mean, low=control.least, high=control.largest, how=how)


# How often a judge gives each score (Stureborg and others 2024, figure 3).
MOST_SCORES = 101
_FREQUENCIES = gettext_lazy(
    "Shares of all answers of a judge by score, on the scale that the judge uses, compared with the "
    "shares of all ratings on the same scale. Peaks at 60, 70 or 75 show round numbers."
)
_OTHER_SCALE = gettext_lazy("The judge has another scale than people.")

_NO_RATINGS = gettext_lazy("There are no ratings yet.")


def frequencies_sections(judge: Judge, scored: Sequence[Scored]) -> list[Section]:
    """Return a table with a curve for each dimension that a judge scored; none without answers."""
    columns = [
        DIMENSION,
        Column("score", gettext("score"), decimals=2),
        Column("share", gettext("share of answers"), ColumnKind.SHARE),
        Column("answers", gettext("answers"), ColumnKind.COUNT),
        Column("people", gettext("share of ratings"), ColumnKind.SHARE),
    ]
    rows = [row for each in scored for row in _rows(each)]
    title = gettext("Frequencies of scores ({judge})").format(judge=judge.name)
    table = Table("frequencies", title, columns, rows, heads=2, plot="curve")
    return (
        [Section(gettext("Frequencies of scores"), str(_FREQUENCIES), [table], "frequencies")] if rows else []
    )


def _rows(each: Scored) -> list[list[Cell]]:
    answers = _round_known(each.said.as_read)
    own, ratings = each.judge.own_scale, _round_known(each.scores.human)
    # All points of the scale are listed, also the ones that the judge never gives.
    points = np.arange(own.minimum, own.maximum + 1) if own else np.array(each.dimension.values)
    if len(points) > MOST_SCORES or len(np.unique(answers)) > MOST_SCORES:
        # Means of probabilities hardly ever repeat; half a point goes to the even neighbour.
        answers, ratings = np.rint(answers), np.rint(ratings)
    listed = np.unique(np.concatenate([answers, points if len(points) <= MOST_SCORES else []]))
    return [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(float(score)),
            Cell(float((answers == score).mean())),
            Cell(int((answers == score).sum())),
            _share_of_people(each, ratings, score),
        ]
        for score in listed.tolist()
    ]


def _share_of_people(each: Scored, ratings: npt.NDArray[np.float64], score: float) -> Cell:
    if each.judge.own_scale:
        return Cell(reason=str(_OTHER_SCALE))
    return Cell(float((ratings == score).mean())) if len(ratings) else Cell(reason=str(_NO_RATINGS))


def _round_known(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Round the known values to two decimals: a third is 3.33 for every source."""
    return np.round(values[~np.isnan(values)], 2)
