"""The tables of all judges together: each row is a judge on a dimension.

Also their ranking by agreement with people, its certainty, and the differences of every two judges.
"""

from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import PairedDifference, Resampling, bias, mean_absolute_error, root_mean_squared_error
from agreement.always_valid import AlwaysValidDifference, always_valid_differences
from agreement.coefficient import Estimated
from agreement.comparison import (
    CORRELATIONS,
    JudgesCompared,
    Level,
    Strengths,
    compare_two_judges,
    highest_judges,
    holm_over_pairs,
    human_ranking,
)
from agreement.comparison.between_judges import (
    AMOUNTS,
    NAMED,
    error_difference_by_document,
    nearness_by_document,
)
from agreement.design import LEAST_DOCUMENTS, documents_needed, smallest_difference_found
from agreement.system_differences import paired_difference
from annotate.core.guideline import FrozenDimension
from annotate.core.rounds import rounds_of
from annotate.results.queries.stopping import always_valid_cells, finished_documents
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.results.queries.scores import stream_of_pair
from judges.results.tables.columns import (
    ABOUT_INTERVALS_OF_M,
    JUDGE,
    SYSTEM,
    difference_cell,
    number_or_reason,
    yes_or_no,
)
from judges.results.tables.compared import ComparedJudges, Scored, Versus, category_tables

LEVELS = {
    Level.DATASET: gettext_lazy("all items"),
    Level.SYSTEM: gettext_lazy("systems"),
    Level.DOCUMENT: gettext_lazy("within documents"),
}
_DIFFERENCES = (bias, mean_absolute_error, root_mean_squared_error)
_BESIDE = gettext_lazy(
    "Do not compare alpha with mean and alpha among people: a mean varies less than single ratings. The page"
    " of replacement compares alpha with the judge as one more rater."
)
_SHARES = gettext_lazy(
    "In each document the system with the higher score has a point; a pair counts as people’s if the "
    "judge prefers the same system. Neighbours are next to each other in people’s ranking."
)


def tables_together(found: ComparedJudges) -> list[Table]:
    """Return the tables of judges that give scores, and of judges that compare two outputs."""
    of_scores = (_scoring_table, _correlations, _alphas, _differences, _meta_correlations, _preferences)
    scored = [table(found.amount_scores) for table in of_scores] if found.amount_scores else []
    scored += [_text_preferences(found)]
    named = category_tables(found.name_scores) if found.name_scores else []
    comparing = [_comparing_table(found.versus)] if found.versus else []
    between = [*tables_between_judges(found), *tables_of_nearness(found)]
    return [*(table for table in scored if table.rows), *named, *between, *comparing]


def _scoring_table(scored: Sequence[Scored]) -> Table:
    columns = [
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("spearman", gettext("Spearman")),
        Column("with_mean", gettext("alpha with mean")),
        Column("among_people", gettext("alpha among people")),
        Column("correct", gettext("pairs as people"), ColumnKind.COUNT),
        Column("compared", gettext("pairs"), ColumnKind.COUNT),
    ]
    rows = [
        [
            *each.names,
            Cell(each.items),
            figure(each.correlations["spearman", Level.DATASET]),
            figure(each.alpha.with_mean),
            figure(each.alpha.among_people),
            Cell(each.all_pairs.correct),
            Cell(each.all_pairs.compared),
        ]
        for each in scored
    ]
    return Table(
        "scoring",
        gettext("Judges and people"),
        [JUDGE, DIMENSION, *columns],
        rows,
        heads=2,
        says=str(_BESIDE),
    )


def _correlations(scored: Sequence[Scored]) -> Table:
    rows = [[*each.names, *map(figure, each.correlations.values())] for each in scored]
    columns = [
        Column(f"{name}_{level}", f"{measure.estimator.label}, {LEVELS[level]}")
        for name, measure in CORRELATIONS.items()
        for level in Level
    ]
    title = gettext("Correlation of judges with mean human scores")
    return Table("correlations", title, [JUDGE, DIMENSION, *columns], rows, heads=2)


def _alphas(scored: Sequence[Scored]) -> Table:
    columns = [
        Column("among_people", gettext("among people")),
        Column("with_judge", gettext("with the judge as one more rater")),
        Column("with_mean", gettext("judge and mean of people")),
    ]
    rows = [[*each.names, *(figure(getattr(each.alpha, one.key)) for one in columns)] for each in scored]
    title = gettext("Krippendorff’s alpha among people and with judges")
    return Table("alphas", title, [JUDGE, DIMENSION, *columns], rows, heads=2)


def _differences(scored: Sequence[Scored]) -> Table:
    rows = [
        [
            *each.names,
            *(
                figure(
                    measure(
                        each.scores.judge,
                        each.scores.human_means,
                        documents=each.scores.documents,
                        generator=each.stream,
                        # Errors on one document often come together.
                        resampling=Resampling(by="documents"),
                    )
                )
                for measure in _DIFFERENCES
            ),
        ]
        for each in scored
    ]
    columns = [Column(each.estimator.name, each.estimator.label, decimals=2) for each in _DIFFERENCES]
    says = gettext(
        "The judge’s value minus the mean of people, in points of the scale; bias above 0 is generous."
    )
    title = gettext("Bias and error of judges")
    return Table("differences", title, [JUDGE, DIMENSION, *columns], rows, heads=2, says=says)


def _meta_correlations(scored: Sequence[Scored]) -> Table:
    rows = [[*each.names, *map(figure, each.meta_correlations.values())] for each in scored]
    columns = [Column(name, measure.estimator.label) for name, measure in CORRELATIONS.items()]
    says = gettext(
        "M: of a system’s correlation with people and its mean human score, over systems. Below 0 the judge "
        "agrees less with people the better a system is."
    )
    says = f"{says} {ABOUT_INTERVALS_OF_M}"
    return Table(
        "meta", gettext("Meta-correlation M"), [JUDGE, DIMENSION, *columns], rows, heads=2, says=says
    )


def _preferences(scored: Sequence[Scored]) -> Table:
    columns = [
        Column("share", gettext("all pairs"), ColumnKind.SHARE),
        Column("correct", gettext("as people"), ColumnKind.COUNT),
        Column("compared", gettext("of"), ColumnKind.COUNT),
        Column("neighbours", gettext("neighbours"), ColumnKind.SHARE),
        Column("neighbours_correct", gettext("neighbours as people"), ColumnKind.COUNT),
        Column("neighbours_compared", gettext("of neighbours"), ColumnKind.COUNT),
    ]
    rows = [
        [
            *each.names,
            *(
                cell
                for pairs in (each.all_pairs, each.neighbours)
                for cell in (figure(pairs.share), Cell(pairs.correct), Cell(pairs.compared))
            ),
        ]
        for each in scored
    ]
    title = gettext("Correct preferences between systems")
    return Table("preferences", title, [JUDGE, DIMENSION, *columns], rows, heads=2, says=str(_SHARES))


def _text_preferences(found: ComparedJudges) -> Table:
    preferring: list[Scored | Versus] = [*found.amount_scores, *found.versus]
    columns = [
        Column("accuracy", gettext("accuracy"), ColumnKind.SHARE),
        Column("compared", gettext("pairs of texts"), ColumnKind.COUNT),
        Column("ties", gettext("no preference of the judge"), ColumnKind.COUNT),
    ]
    rows = [
        [*each.names, figure(each.texts.accuracy), Cell(each.texts.compared), Cell(each.texts.ties)]
        for each in preferring
    ]
    title = gettext("Preferences between two texts for one document")
    return Table(
        "text_preferences", title, [JUDGE, DIMENSION, *columns], rows, heads=2, says=str(_SAYS_TEXTS)
    )


HOW_STRONG = gettext_lazy(
    "Bradley and Terry’s model with ties and an order effect (function system_strengths); source: Davidson "
    "and Beaver 1977; 95 % interval: t, variances summed within documents (Liang and Zeger 1986)."
)
_SAYS_TEXTS = gettext_lazy(
    "Pairs of texts for one document with different means of people: the share in which the judge prefers "
    "the text with the higher mean. A tie of the judge counts one half."
)
_SAYS_COMPARING = gettext_lazy(
    "Whether the same system wins, or both tie, after the two texts are swapped. If not: whether the "
    "outcome moves towards the first or the second text. Between equals: between two equally strong "
    "systems, the share of ties, and the share of comparisons without a tie that the first text wins; 0.5 "
    "= no position bias."
)


def _comparing_table(versus: Sequence[Versus]) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("consistency", gettext("same after swapping"), ColumnKind.SHARE),
        Column("consistent", gettext("same"), ColumnKind.COUNT),
        Column("favours_first", gettext("towards the first text"), ColumnKind.COUNT),
        Column("favours_second", gettext("towards the second text"), ColumnKind.COUNT),
        Column("first_wins", gettext("first text wins between equals"), ColumnKind.SHARE),
        Column("ties", gettext("ties between equals"), ColumnKind.SHARE),
        Column("share", gettext("correct preferences"), ColumnKind.SHARE),
        Column("correct", gettext("pairs as people"), ColumnKind.COUNT),
        Column("compared", gettext("pairs"), ColumnKind.COUNT),
    ]
    rows = [
        [
            *each.names,
            figure(each.consistency.share),
            Cell(each.consistency.consistent),
            Cell(each.consistency.favours_first),
            Cell(each.consistency.favours_second),
            strength_cell(each.strengths.first_wins, each.strengths),
            number_or_reason(each.strengths.ties, each.strengths.reason, str(HOW_STRONG)),
            figure(each.correct.share),
            Cell(each.correct.correct),
            Cell(each.correct.compared),
        ]
        for each in versus
    ]
    title = gettext("Judges that compare two texts")
    return Table("comparing", title, columns, rows, heads=2, says=str(_SAYS_COMPARING))


LEVEL = 0.05
POWER = 0.8
_MOST_NAMED = 3
_SAYS = gettext_lazy(
    "The share of items on which the first judge is nearer to the mean of people minus that of the second. "
    "On named categories it is the first judge’s mean share of raters with the same value minus the "
    "second’s. You may look after every document that all its raters have finished, and stop: interval "
    "(Bonferroni) and p (Holm) hold at all looks. Both are corrected over the pairs of judges of a "
    "dimension, not over dimensions."
)
_POWER_SAYS = gettext_lazy(
    "The first judge’s mean squared error minus the second’s, in squared points; on named categories its "
    "agreement with people minus the second’s. Smallest: found by the paired t test on today’s documents "
    "with a power of 80 %. Needed: documents to find a difference as large as today’s with that power. "
    "Both are corrected for all pairs of judges (Bonferroni). A difference seen by chance is larger than "
    "the true one, so take the number as a lower limit."
)
_HOW_PAIRED = gettext_lazy(
    "Mean over documents (function error_difference_by_document); 95 % interval: paired t; source: Student "
    "1908."
)
_HOW_POWER = gettext_lazy(
    "Power of the paired t test over documents (functions smallest_difference_found and documents_needed), "
    "noncentral t; source: Cohen 1988, chapter 2."
)
_TOO_FEW = gettext_lazy("Fewer than {least} documents have values of both judges and of people.")
_TOO_MANY = gettext_lazy("The difference is 0 or needs more than 100,000 documents.")

Pair = tuple[Scored, Scored]


def tables_of_nearness(found: ComparedJudges) -> list[Table]:
    """Return the nearer of two judges, and the power of comparisons; none with one judge. Two queries.

    Documents are in the order in which their raters finished them in Round I.
    """
    pairs = found.pairs_by_dimension
    first = rounds_of(found.project).get(1) if pairs else None
    if first is None:
        return []
    order = finished_documents(first)
    return [_nearer([(dimension, _compare(own, order)) for dimension, own in pairs]), _power(pairs)]


def _compare(pairs: Sequence[Pair], order: Sequence[int]) -> Sequence[AlwaysValidDifference]:
    differences = []
    for one, other in pairs:
        values = nearness_by_document(one.scores, other.scores, is_named=one.dimension.is_named)
        of_document = dict(zip(one.scores.document_labels, values.tolist(), strict=True))
        # The test is valid at every look only if documents come in an order that ignores the values.
        in_order = [of_document.get(document, np.nan) for document in order]
        differences.append((one.judge.name, other.judge.name, np.array(in_order, dtype=float)))
    # Nearness is a share of items, so no difference of two is beyond 1.
    return always_valid_differences(differences, reach=1, confidence_level=1 - LEVEL)


def _nearer(compared: Sequence[tuple[FrozenDimension, Sequence[AlwaysValidDifference]]]) -> Table:
    rows = [
        [
            text(each.first),
            text(each.second),
            text(dimension.name, key=dimension.key),
            Cell(each.documents),
            *always_valid_cells(each),
        ]
        for dimension, found in compared
        for each in found
    ]
    columns = [
        JUDGE,
        Column("other_judge", gettext("Other judge"), ColumnKind.TEXT),
        DIMENSION,
        Column("documents", gettext("finished documents"), ColumnKind.COUNT),
        Column("nearer", gettext("nearer minus farther"), decimals=2),
        Column("p_adjusted", gettext("p at every look"), ColumnKind.P_VALUE),
        Column("sure", gettext("sure"), ColumnKind.TEXT),
        Column("more", gettext("more documents"), ColumnKind.COUNT),
    ]
    says = f"{_describe(compared)} {_SAYS}"
    return Table("nearer", gettext("Which judge is nearer to people"), columns, rows, heads=3, says=says)


def _describe(compared: Sequence[tuple[FrozenDimension, Sequence[AlwaysValidDifference]]]) -> str:
    found = [(dimension.name, each) for dimension, pairs in compared for each in pairs]
    sure = sum(each.is_sure for _, each in found)
    if len(found) > _MOST_NAMED:
        return gettext("{sure} of {total} comparisons of judges are sure.").format(
            sure=sure, total=len(found)
        )
    return " ".join(_describe_pair(name, each) for name, each in found)


def _describe_pair(dimension: str, pair: AlwaysValidDifference) -> str:
    parts = {"first": pair.first, "second": pair.second, "dimension": dimension}
    if pair.is_sure:
        # A value below 0 means that the second judge is nearer, so the names are exchanged.
        if (pair.value or 0) < 0:
            parts |= {"first": pair.second, "second": pair.first}
        return gettext("{first} is surely nearer to people than {second} on {dimension}.").format(**parts)
    if pair.more_documents is None:
        return gettext("It is not sure yet whether {first} or {second} is nearer on {dimension}.").format(
            **parts
        )
    says = gettext(
        "It is not sure yet whether {first} or {second} is nearer on {dimension}: about {more} more "
        "documents."
    )
    return says.format(**parts, more=f"{pair.more_documents:,}")


def _power(pairs: Sequence[tuple[FrozenDimension, Sequence[Pair]]]) -> Table:
    rows = []
    for dimension, own in pairs:
        # Bonferroni over the pairs of judges of a dimension.
        level = LEVEL / len(own)
        for one, other in own:
            values = (
                # Categories have no error to square, so their agreement with people is compared.
                nearness_by_document(one.scores, other.scores, is_named=True)
                if dimension.is_named
                else error_difference_by_document(one.scores, other.scores)
            )
            values = values[~np.isnan(values)]
            number = len(values)
            names = [text(one.judge.name), text(other.judge.name), text(dimension.name, key=dimension.key)]
            if number < LEAST_DOCUMENTS:
                none = Cell(reason=_TOO_FEW.format(least=LEAST_DOCUMENTS))
                rows.append([*names, Cell(number), none, none, none])
                continue
            found = paired_difference(values, one.judge.name, other.judge.name, (1 - LEVEL, 1 - level))
            how = str(_HOW_POWER)
            difference = Cell(
                found.value,
                found.low,
                found.high,
                interval_reason=found.reason,
                count=number,
                how=str(_HOW_PAIRED),
            )
            deviation, mean = float(values.std(ddof=1)), float(values.mean())
            smallest = smallest_difference_found(deviation, number, significance_level=level, power=POWER)
            needed = documents_needed(mean, deviation, significance_level=level, power=POWER)
            enough = Cell(needed, reason="" if needed else str(_TOO_MANY), how=how)
            rows.append([*names, Cell(number), difference, Cell(smallest, how=how), enough])
    columns = [
        JUDGE,
        Column("other_judge", gettext("Other judge"), ColumnKind.TEXT),
        DIMENSION,
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("difference", gettext("difference")),
        Column("smallest", gettext("smallest found")),
        Column("needed", gettext("documents needed"), ColumnKind.COUNT),
    ]
    title = gettext("Power to find which judge is better")
    return Table("power-of-judges", title, columns, rows, heads=3, says=str(_POWER_SAYS))


_SAYS_STRENGTHS = gettext_lazy(
    "A system’s strength is on the logarithmic scale, with mean 0. If two systems differ by 1, the "
    "stronger one wins 73 % of the comparisons without a tie. Adjusted for position bias. Ranks hold for "
    "all systems of a dimension at once (95 %)."
)


def strengths_table(key: str, name: str, versus: Sequence[Versus]) -> Table:
    """Return systems by strength on each dimension, the strongest first."""
    columns = [
        DIMENSION,
        SYSTEM,
        Column("strength", gettext("strength"), decimals=2),
        Column("ranks", gettext("ranks"), ColumnKind.TEXT),
        Column("people", gettext("rank by people"), ColumnKind.COUNT),
        Column("verdicts", gettext("verdicts"), ColumnKind.COUNT),
        Column("won", gettext("won"), ColumnKind.COUNT),
        Column("tied", gettext("tied"), ColumnKind.COUNT),
    ]
    rows = []
    for each in versus:
        # Names of categories rank no system.
        ranking = () if each.dimension.is_named else human_ranking(each.scores)
        ranked = {name: position for position, name in enumerate(ranking, start=1)}
        for one in each.strengths.systems:
            ranks = f"{one.best}" if one.best == one.worst else f"{one.best} to {one.worst}"
            rows.append(
                [
                    text(each.dimension.name, key=each.dimension.key),
                    text(one.system),
                    strength_cell(one.strength, each.strengths),
                    text(ranks if one.strength else ""),
                    number_or_reason(
                        ranked.get(one.system), gettext("People have given this system no scores.")
                    ),
                    Cell(one.verdicts),
                    Cell(one.won),
                    Cell(one.tied),
                ]
            )
    title = gettext("Systems by strength ({name})").format(name=name)
    return Table(f"{key}-strengths", title, columns, rows, heads=2, says=str(_SAYS_STRENGTHS))


def strength_cell(found: Estimated | None, strengths: Strengths) -> Cell:
    if found is None:
        return Cell(reason=strengths.reason)
    return Cell(found.value, found.low, found.high, count=strengths.documents, how=str(HOW_STRONG))


_FIGURES = {
    "spearman": gettext_lazy("Spearman"),
    "alpha": gettext_lazy("alpha with mean"),
    "preferences": gettext_lazy("pairs as people"),
    "systems": gettext_lazy("Pearson, systems"),
    "accuracy": gettext_lazy("accuracy"),
}
_MOST = gettext_lazy(
    "Highest: no other judge has a higher value on the items that both judges and people rated. May be "
    "highest: no other judge is significantly better (p below 0.05, corrected by Holm over the pairs of "
    "judges of a dimension, not over dimensions or statistics). A single name there is significantly the "
    "best."
)
_SAYS_OF_PAIRS = gettext_lazy(
    "The first judge’s statistic minus the second’s, on the items for which both and people have values. "
    "Each resample of documents serves both judges; between systems’ means it is Williams’ test. p is "
    "corrected by Holm over the pairs of judges of a dimension, not over dimensions or statistics. The p "
    "of “pairs as people” is cautious: the share moves in steps. The page Compare shows how far two "
    "judges agree with each other."
)
_NO_ITEM = gettext_lazy("No item has a value of both judges and one of people.")

Pairs = Sequence[tuple[FrozenDimension, Sequence[JudgesCompared]]]


def tables_between_judges(found: ComparedJudges) -> list[Table]:
    """Return the ranking by agreement with people, and every pair of judges; empty without a pair."""
    pairs = []
    for dimension, judges in found.pairs_by_dimension:
        differences = []
        for first, second in judges:
            # One stream, so that a resample of documents serves both judges.
            stream = stream_of_pair(found.project, first.judge, second.judge, dimension)
            of_pair = compare_two_judges(
                first.scores,
                second.scores,
                measurement_level=dimension.measurement_level,
                generator=stream,
            )
            differences.append((first.judge.name, second.judge.name, *of_pair))
        pairs.append((dimension, holm_over_pairs(differences)))
    if not pairs:
        return []
    amounts = [each for each in pairs if not each[0].is_named]
    named = [each for each in pairs if each[0].is_named]
    tables = [_most(pairs)]
    if amounts:
        tables.append(
            _table_of_differences("pairs-of-judges", gettext("Differences between judges"), amounts, AMOUNTS)
        )
    if named:
        title = gettext("Differences between judges on named categories")
        tables.append(_table_of_differences("pairs-of-judges-named", title, named, NAMED))
    return tables


def _most(pairs: Pairs) -> Table:
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(str(_FIGURES[figure]), key=figure),
            text(", ".join(each.highest) or gettext("none: each is below another")),
            yes_or_no(each.is_sure),
            text(", ".join(each.may_be_highest)),
        ]
        for dimension, compared in pairs
        for figure in (NAMED if dimension.is_named else AMOUNTS)
        if (each := highest_judges(compared, figure))
    ]
    columns = [
        DIMENSION,
        Column("figure", gettext("By"), ColumnKind.TEXT),
        Column("highest", gettext("highest"), ColumnKind.TEXT),
        Column("sure", gettext("sure"), ColumnKind.TEXT),
        Column("may_be_highest", gettext("may be highest"), ColumnKind.TEXT),
    ]
    return Table(
        "most", gettext("Which judge agrees most with people"), columns, rows, heads=2, says=str(_MOST)
    )


def _table_of_differences(key: str, title: str, pairs: Pairs, figures: Sequence[str]) -> Table:
    rows = []
    for dimension, compared in pairs:
        for each in compared:
            row = [text(each.first), text(each.second), text(dimension.name, key=dimension.key)]
            row.append(Cell(each.items))
            for name in figures:
                found = each.figures.get(name) or PairedDifference(None, 0, reason=str(_NO_ITEM))
                what = gettext("Difference of two judges: {statistic} (function compare_two_judges)")
                row.append(difference_cell(found, what.format(statistic=_FIGURES[name])))
                row.append(number_or_reason(each.adjusted.get(name), found.reason))
            rows.append(row)
    columns = [
        JUDGE,
        Column("other_judge", gettext("Other judge"), ColumnKind.TEXT),
        DIMENSION,
        Column("items", gettext("items"), ColumnKind.COUNT),
        *(
            column
            for name in figures
            for column in (
                Column(name, str(_FIGURES[name])),
                Column(
                    f"{name}_p",
                    gettext("p, {statistic}").format(statistic=_FIGURES[name]),
                    ColumnKind.P_VALUE,
                ),
            )
        ),
    ]
    return Table(key, title, columns, rows, heads=3, says=str(_SAYS_OF_PAIRS))
