"""The tables of all judges together: each row is a judge on a dimension."""

from collections.abc import Callable, Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement import Resampling, bias, mean_absolute_error, root_mean_squared_error
from agreement.comparison import CORRELATIONS, Level
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure
from judges.results.tables.between_judges import tables_between_judges
from judges.results.tables.categories import category_tables
from judges.results.tables.columns import ABOUT_INTERVALS_OF_M, JUDGE, number_or_reason
from judges.results.tables.compared import ComparedJudges, Scored, Versus
from judges.results.tables.nearer import tables_of_nearness
from judges.results.tables.strengths import HOW_STRONG, strength_cell

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
    """Return the tables of judges that give scores, and of those that compare two texts."""
    of_scores = (_scoring_table, _correlations, _alphas, _differences, _meta_correlations, _preferences)
    scored = [table(found.with_amounts) for table in of_scores] if found.with_amounts else []
    scored += [_text_preferences(found)]
    named = category_tables(found.with_names) if found.with_names else []
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
    preferring: list[Scored | Versus] = [*found.with_amounts, *found.versus]
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


_SAYS_TEXTS = gettext_lazy(
    "Pairs of texts for one document with different means of people: the share in which the judge prefers "
    "the text with the higher mean. A tie of the judge counts one half."
)
_COMPARING: Sequence[tuple[Column, Callable[[Versus], Cell]]] = [
    (
        Column("consistency", lambda: gettext("same after swapping"), ColumnKind.SHARE),
        lambda of: figure(of.consistency.share),
    ),
    (
        Column("consistent", lambda: gettext("same"), ColumnKind.COUNT),
        lambda of: Cell(of.consistency.consistent),
    ),
    (
        Column("favours_first", lambda: gettext("towards the first text"), ColumnKind.COUNT),
        lambda of: Cell(of.consistency.favours_first),
    ),
    (
        Column("favours_second", lambda: gettext("towards the second text"), ColumnKind.COUNT),
        lambda of: Cell(of.consistency.favours_second),
    ),
    (
        Column("first_wins", lambda: gettext("first text wins between equals"), ColumnKind.SHARE),
        lambda of: strength_cell(of.strengths.first_wins, of.strengths),
    ),
    (
        Column("ties", lambda: gettext("ties between equals"), ColumnKind.SHARE),
        lambda of: number_or_reason(of.strengths.ties, of.strengths.reason, str(HOW_STRONG)),
    ),
    (
        Column("share", lambda: gettext("correct preferences"), ColumnKind.SHARE),
        lambda of: figure(of.correct.share),
    ),
    (
        Column("correct", lambda: gettext("pairs as people"), ColumnKind.COUNT),
        lambda of: Cell(of.correct.correct),
    ),
    (Column("compared", lambda: gettext("pairs"), ColumnKind.COUNT), lambda of: Cell(of.correct.compared)),
]
_SAYS_COMPARING = gettext_lazy(
    "Whether the same system wins, or both tie, after the two texts are swapped. If not: whether the "
    "outcome moves towards the first or the second text. Between equals: between two equally strong "
    "systems, the share of ties, and the share of comparisons without a tie that the first text wins; 0.5 "
    "= no position bias."
)


def _comparing_table(versus: Sequence[Versus]) -> Table:
    columns = [JUDGE, DIMENSION, *(column for column, _ in _COMPARING)]
    rows = [[*each.names, *(cell_of(each) for _, cell_of in _COMPARING)] for each in versus]
    title = gettext("Judges that compare two texts")
    return Table("comparing", title, columns, rows, heads=2, says=str(_SAYS_COMPARING))
