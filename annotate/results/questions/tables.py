"""Tables of labels: of sets of them, and of the labels of parts."""

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import (
    Coefficient,
    LabelAnswers,
    MarkedSpan,
    Rankings,
    ReliabilityData,
    SpannedText,
    SpanWeights,
    agreement_by_label,
    alpha_by_category,
    best_worst_scores,
    jaccard_distance,
    krippendorff_alpha,
    label_alpha,
    label_rates,
    masi_distance,
    mean_concordance,
    mqm_alpha,
    percent_agreement,
    plackett_luce,
    ranking_alpha,
    share_of_yes,
    span_f1,
    unitizing_alpha_by_category,
)
from agreement.comparison import (
    PairwiseAnswers,
    Strengths,
    preference_alpha,
    share_of_agreement,
    strengths_by_preference,
)
from agreement.data import FloatArray
from annotate.results.questions.answers import (
    MEASURE,
    STRENGTH_COLUMNS,
    STRENGTHS_SAY,
    SYSTEM,
    QuestionAnswers,
    Rounds,
    agreement_table,
    alike_cell,
    columns_of_rounds,
    end_of,
    labels_by_key,
    means_table,
    number_in,
    ranks_cell,
    strength_cell,
)
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, text


def labels_tables(rounds: Rounds) -> list[Table]:
    """Return alpha of sets, agreement on each label, and each label's rate by system."""
    dimension = rounds[0].dimension
    distance = {"jaccard": jaccard_distance, "masi": masi_distance}[dimension.options["distance"]]
    names = labels_by_key(dimension, "labels")
    sets = [
        LabelAnswers(
            [[None if own is None else frozenset(own) for own in row] for row in one.pieces("labels")],
            labels=list(names),
            documents=one.documents,
            raters=one.raters,
        )
        for one in rounds
    ]
    alphas = [
        label_alpha(own, distance, generator=one.stream, resampling=one.resampling)
        for own, one in zip(sets, rounds, strict=True)
    ]
    measured = {
        "jaccard": gettext("Krippendorff’s alpha, Jaccard"),
        "masi": gettext("Krippendorff’s alpha, MASI"),
    }
    by_label = [
        agreement_by_label(own, generator=one.stream, resampling=one.resampling)
        for own, one in zip(sets, rounds, strict=True)
    ]
    columns = [
        Column("label", gettext("Label"), ColumnKind.TEXT),
        Column("given", gettext("given"), ColumnKind.COUNT),
    ]
    columns += columns_of_rounds(rounds, [("alpha", gettext("alpha")), ("f1", gettext("F1"))])
    rows = [
        [
            text(names[key], key=key),
            Cell(by_label[-1][index].given),
            *(figure(each) for own in by_label for each in (own[index].alpha, own[index].f1)),
        ]
        for index, key in enumerate(names)
    ]
    says = gettext("F1 is the mean over pairs of raters, and not corrected for chance.")
    labels = Table("labels", gettext("Agreement on each label"), columns, rows, says=says)
    rates = label_rates(sets[-1], rounds[-1].systems)
    of_system: dict[str, list[Cell]] = {}
    for rate in rates:
        of_system.setdefault(rate.system, []).append(figure(rate.rate, count=rate.rate.counts.ratings))
    share = Table(
        "systems",
        gettext("Share of outputs with each label"),
        [SYSTEM, *(Column(f"label_{key}", name, ColumnKind.SHARE) for key, name in names.items())],
        [[text(system), *of_system[system]] for system in sorted(of_system)],
        says=gettext("An output’s share is the share of its raters who gave the label. {round}").format(
            round=end_of(rounds)
        ),
        plot="intervals",
    )
    return [agreement_table([(measured[dimension.options["distance"]], alphas)]), labels, share]


def parts_tables(rounds: Rounds) -> list[Table]:
    """Return alpha over parts, and the share of the label that counts of each system."""
    options = rounds[0].dimension.options
    alphas, shares = [], []
    for each in rounds:
        codes, _, documents = _codes_of_parts(each)
        data = ReliabilityData(
            codes,
            measurement_level="nominal",
            value_domain=range(len(options["labels"])),
            documents=documents,
            raters=each.raters,
        )
        alphas.append(krippendorff_alpha(data, generator=each.stream, resampling=each.resampling))
        shares.append(percent_agreement(data, generator=each.stream, resampling=each.resampling))
    last = rounds[-1]
    counts = [each["key"] for each in options["labels"]].index(options["counts"])
    rows = []
    for system in sorted(set(last.systems)):
        own = last.of_system(system)
        codes, items, documents = _codes_of_parts(own)
        yes = np.where(np.isnan(codes), np.nan, codes == counts)
        found = share_of_yes(yes, items, documents=documents)
        rows.append([text(system), figure(found, count=len(set(items)))])
    name = labels_by_key(last.dimension, "labels")[options["counts"]]
    column = Column("share", gettext("share of “{name}”").format(name=name), ColumnKind.SHARE)
    rows.sort(key=lambda row: -number_in(row[1]))
    systems = Table(
        "systems", gettext("Shares of systems"), [SYSTEM, column], rows, says=end_of(rounds), plot="intervals"
    )
    return [
        agreement_table(
            [
                (gettext("Krippendorff’s alpha over parts"), alphas),
                (gettext("equal answers about parts"), shares),
            ]
        ),
        systems,
    ]


def _codes_of_parts(answers: QuestionAnswers) -> tuple[FloatArray, list[int], list[str]]:
    """Return (raters, parts) positions of labels, NaN for a gap, and (parts,) items and documents."""
    position = {each["key"]: index for index, each in enumerate(answers.dimension.options["labels"])}
    chosen = answers.pieces("parts")
    columns: list[list[float]] = []
    items: list[int] = []
    documents: list[str] = []
    for index, item in enumerate(answers.items):
        lists = [row[index] if isinstance(row[index], list) else [] for row in chosen]
        for keys in zip_longest(*lists):
            columns.append([position.get(key, np.nan) for key in keys])
            items.append(item.id)
            documents.append(item.document)
    codes = np.array(columns, dtype=float).reshape(len(columns), len(answers.raters)).T
    return codes, items, documents


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


def spans_tables(rounds: Rounds) -> list[Table]:
    """Return agreement on spans and on their weights, scores of systems, and errors by category."""
    options = rounds[0].dimension.options
    weights = SpanWeights({each["key"]: each["weight"] for each in options["severities"]})
    names = labels_by_key(rounds[0].dimension, "categories")
    texts = [_texts_with_spans(each) for each in rounds]
    drawn, plan = rounds[0].stream, rounds[0].resampling
    any_category = [_drop_categories(each) for each in texts]
    found = [
        (gettext("F1 of marked characters, mean of pairs"), [span_f1(each) for each in texts]),
        (
            gettext("unitizing alpha"),
            [
                unitizing_alpha_by_category(each, [""], generator=drawn, resampling=plan)[""]
                for each in any_category
            ],
        ),
        (
            gettext("alpha of sums of weights"),
            [mqm_alpha(each, weights, generator=drawn, resampling=plan) for each in texts],
        ),
    ]
    units = [
        unitizing_alpha_by_category(each, list(names), generator=drawn, resampling=plan) for each in texts
    ]
    counts = [alpha_by_category(each, list(names), generator=drawn, resampling=plan) for each in texts]
    columns = [
        Column("category", gettext("Category"), ColumnKind.TEXT),
        Column("spans", gettext("spans"), ColumnKind.COUNT),
    ]
    columns += columns_of_rounds(
        rounds, [("units", gettext("unitizing alpha")), ("counts", gettext("alpha of counts"))]
    )
    rows = [
        [
            text(name, key=key),
            Cell(
                sum(
                    span.category == key
                    for each in texts[-1]
                    for spans in each.spans.values()
                    for span in spans
                )
            ),
            *(figure(each[key]) for pair in zip(units, counts, strict=True) for each in pair),
        ]
        for key, name in names.items()
    ]
    categories = Table("categories", gettext("Agreement on each category"), columns, rows)
    last = rounds[-1]
    lengths = np.array([max(len(each.texts[0]), 1) for each in last.items])
    scores = [
        ("mqm", gettext("MQM score per item"), last.values),
        ("mqm_per_1000", gettext("per 1,000 characters"), last.values * 1000 / lengths),
    ]
    says = gettext("The sum of the weights of marked errors; lower is better. {round}").format(
        round=end_of(rounds)
    )
    systems = means_table(
        last, scores, 0, np.inf, title=gettext("MQM scores of systems"), says=says, largest_first=False
    )
    marked = last.pieces("spans")
    errors = [(key, name, _count_of(marked, key)) for key, name in names.items()]
    title = gettext("Errors per item by category")
    by_category = means_table(last, errors, 0, np.inf, key="errors", title=title, says=end_of(rounds))
    return [agreement_table(found), systems, categories, by_category]


def _texts_with_spans(answers: QuestionAnswers) -> list[SpannedText]:
    """Return one string for each item with raters' spans; it joins all markable strings with a space."""
    both = answers.dimension.options["where"] == "both"
    found = []
    for index, item in enumerate(answers.items):
        texts = item.texts if both else item.texts[:1]
        begins = [sum(len(each) + 1 for each in texts[:part]) for part in range(len(texts))]
        spans = {}
        for rater, row in zip(answers.raters, answers.given, strict=True):
            given = row[index]
            if given is not None:
                spans[rater] = [
                    MarkedSpan(
                        begins[each["part"]] + each["start"],
                        begins[each["part"]] + each["end"],
                        each["category"],
                        each["severity"],
                    )
                    for each in (given.data or {}).get("spans", ())
                ]
        found.append(SpannedText(item.document, sum(len(each) + 1 for each in texts) - 1, spans))
    return found


def _drop_categories(texts: Iterable[SpannedText]) -> list[SpannedText]:
    return [
        SpannedText(
            each.document,
            each.length,
            {
                rater: [MarkedSpan(span.start, span.end, "", span.severity) for span in spans]
                for rater, spans in each.spans.items()
            },
        )
        for each in texts
    ]


def _count_of(marked: Sequence[Sequence[object]], category: str) -> FloatArray:
    """(raters, items): the number of spans of a category, NaN for a gap."""
    return np.array(
        [
            [
                sum(span["category"] == category for span in spans) if isinstance(spans, list) else np.nan
                for spans in row
            ]
            for row in marked
        ],
        dtype=float,
    )
