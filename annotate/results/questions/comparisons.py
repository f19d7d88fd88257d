"""Tables of preferences and rankings: agreement, and the strengths of systems."""

from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, Rankings, best_worst_scores, mean_concordance, plackett_luce, ranking_alpha
from agreement.comparison import (
    PairwiseAnswers,
    Strengths,
    preference_alpha,
    share_of_agreement,
    strengths_by_preference,
)
from annotate.results.questions.answers import QuestionAnswers
from annotate.results.questions.shared import (
    MEASURE,
    STRENGTH_COLUMNS,
    STRENGTHS_SAY,
    SYSTEM,
    Rounds,
    agreement_table,
    alike_cell,
    end_of,
    ranks_cell,
    strength_cell,
)
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, text

_HOW_STRONG = gettext_lazy(
    "Bradley and Terry’s model with ties and an order effect (function strengths_by_preference); source: "
    "Davidson and Beaver 1977; 95 % interval: t, variances summed within documents (Liang and Zeger 1986)."
)
_HOW_RANKED = gettext_lazy(
    "Plackett and Luce’s model (function plackett_luce); source: Plackett 1975; 95 % interval: t, variances "
    "summed within documents (Liang and Zeger 1986)."
)


def preference_tables(rounds: Rounds) -> list[Table]:
    """Return agreement on the winner, strengths of systems, and the effect of the position."""
    answers = [_pairwise(each.where(lambda item: len(item.sides) == 2)) for each in rounds]
    options = rounds[0].dimension.options
    drawn = rounds[0].stream
    found: list[tuple[str, Sequence[Coefficient]]] = [
        (
            gettext("alpha of the winner, in both orientations"),
            [preference_alpha(each, generator=drawn) for each in answers],
        ),
        (gettext("agreement on the winner"), [share_of_agreement(each, generator=drawn) for each in answers]),
    ]
    if options["strength"] > 1:
        name = gettext("alpha of the strength, in both orientations")
        found.insert(
            1, (name, [preference_alpha(each, by_strength=True, generator=drawn) for each in answers])
        )
    strengths = strengths_by_preference(answers[-1])
    rows = [
        [
            text(each.system),
            strength_cell(each.strength, strengths.documents, strengths.reason, _HOW_STRONG),
            ranks_cell(each.best, each.worst, strengths.reason),
            alike_cell(each.system, strengths.differences, strengths.reason),
            Cell(each.verdicts),
            Cell(each.won),
            Cell(each.tied),
        ]
        for each in strengths.systems
    ]
    columns = [
        *STRENGTH_COLUMNS,
        Column("answers", gettext("answers"), ColumnKind.COUNT),
        Column("won", gettext("won"), ColumnKind.COUNT),
        Column("tied", gettext("tied"), ColumnKind.COUNT),
    ]
    systems = Table(
        "systems",
        gettext("Systems by strength"),
        columns,
        rows,
        says=f"{STRENGTHS_SAY} {end_of(rounds)}",
        plot="intervals",
    )
    return [agreement_table(found), systems, _position(answers[-1], strengths)]


def _pairwise(answers: QuestionAnswers) -> PairwiseAnswers:
    options = answers.dimension.options
    orders = answers.pieces("order")
    return PairwiseAnswers(
        -answers.values,  # stored below 0 for the first side
        first=[each.sides[0] for each in answers.items],
        second=[each.sides[1] for each in answers.items],
        documents=answers.documents,
        strongest=options["strength"],
        ties=options["ties"],
        shown_first=[[order != [1, 0] for order in row] for row in orders],
        raters=answers.raters,
    )


def _position(answers: PairwiseAnswers, strengths: Strengths) -> Table:
    won = ~np.isnan(answers.values) & (answers.values != 0)
    assert answers.shown_first is not None
    first = int((won & ((answers.values > 0) == answers.shown_first)).sum())
    decided = int(won.sum())
    how = gettext("Share of answers without a tie that prefer the output shown first.")
    none = gettext("There is no answer yet that prefers an output.")
    share = Cell(first / decided, count=decided, how=how) if decided else Cell(reason=none)
    estimate = strength_cell(strengths.first_wins, strengths.documents, strengths.reason, _HOW_STRONG)
    columns = [MEASURE, Column("share", gettext("share"), ColumnKind.SHARE)]
    rows = [
        [text(gettext("preferred the output shown first")), share],
        [text(gettext("probability that it wins against an equal system")), estimate],
    ]
    says = gettext("Without an effect of the position both are 50 %. Strengths are adjusted for it.")
    return Table("position", gettext("Effect of the position"), columns, rows, says=says)


def ranking_tables(rounds: Rounds) -> list[Table]:
    """Return Kendall's W, alpha, strengths of systems, and best-worst scores."""
    best_worst = rounds[0].dimension.options["best_worst"]
    rankings = [_rankings(each) for each in rounds]
    drawn = rounds[0].stream
    found = [
        (
            gettext("alpha of rankings, Kendall’s distance"),
            [ranking_alpha(each, generator=drawn) for each in rankings],
        ),
        (
            gettext("Kendall’s W, mean over items"),
            [mean_concordance(each, generator=drawn) for each in rankings],
        ),
    ]
    strengths = plackett_luce(rankings[-1])
    rows = [
        [
            text(each.system),
            strength_cell(each.strength, strengths.documents, strengths.reason, _HOW_RANKED),
            ranks_cell(each.best, each.worst, strengths.reason),
            alike_cell(each.system, strengths.differences, strengths.reason),
            Cell(each.rankings),
            Cell(float(each.times_first)),
        ]
        for each in strengths.systems
    ]
    columns = [
        *STRENGTH_COLUMNS,
        Column("rankings", gettext("rankings"), ColumnKind.COUNT),
        Column("first", gettext("times first"), decimals=1),
    ]
    says = f"{STRENGTHS_SAY} {end_of(rounds)}"
    tables = [
        agreement_table(found),
        Table("systems", gettext("Systems by strength"), columns, rows, says=says, plot="intervals"),
    ]
    return [*tables, _best_worst(rounds)] if best_worst else tables


def _rankings(answers: QuestionAnswers) -> Rankings:
    systems = sorted({name for each in answers.items for name in each.sides})
    ranks = np.full((len(answers.raters), len(answers.items), len(systems)), np.nan)
    for rater, row in enumerate(answers.pieces("ranks")):
        for index, own in enumerate(row):
            if isinstance(own, list):
                ranks[rater, index, [systems.index(name) for name in answers.items[index].sides]] = own
    return Rankings(ranks, systems=systems, documents=answers.documents)


def _best_worst(rounds: Rounds) -> Table:
    shown: list[Sequence[str]] = []
    best: list[str] = []
    worst: list[str] = []
    documents: list[str] = []
    for row in rounds[-1].pieces("ranks"):
        for item, ranks in zip(rounds[-1].items, row, strict=True):
            if isinstance(ranks, list):
                shown.append(item.sides)
                best.append(item.sides[ranks.index(1)])
                worst.append(item.sides[ranks.index(3)])
                documents.append(item.document)
    rows = [
        [text(each.system), figure(each.score, count=each.shown), Cell(each.best), Cell(each.worst)]
        for each in best_worst_scores(shown, best, worst, documents=documents)
    ]
    columns = [
        SYSTEM,
        Column("score", gettext("best-worst score"), decimals=2),
        Column("best", gettext("best"), ColumnKind.COUNT),
        Column("worst", gettext("worst"), ColumnKind.COUNT),
    ]
    says = gettext("Times best minus times worst, over times shown: from -1 to 1.")
    return Table(
        "best-worst",
        gettext("Best-worst scores"),
        columns,
        rows,
        says=f"{says} {end_of(rounds)}",
        plot="intervals",
    )
