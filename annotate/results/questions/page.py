"""The page of questions that are not asked on a scale, one at a time, and the tables of each kind."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import (
    Coefficient,
    LabelAnswers,
    MarkedSpan,
    Rankings,
    RankingStrengths,
    ReliabilityData,
    SpannedText,
    SpanWeights,
    agreement_by_label,
    alpha_by_category,
    alpha_by_distance,
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
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import Project
from annotate.core.rounds import round_one
from annotate.questions import Given, kind_of
from annotate.questions.scale import SCALE
from annotate.questions.spans import SPANS
from annotate.results.queries.agreement_page import AFTER_DISCUSSION, RELIABILITY
from annotate.results.questions.answers import (
    MEASURE,
    STRENGTH_COLUMNS,
    STRENGTHS_SAY,
    SYSTEM,
    QuestionAnswers,
    Rounds,
    agreement_table,
    alike_cell,
    answers_of_rounds,
    columns_of_rounds,
    end_of,
    labels_by_key,
    means_table,
    ranks_cell,
    sort_by_number,
    strength_cell,
)
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import Cell, Column, ColumnKind, Section, Table, figure, text


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
    # Each label by itself, as a question with the answers yes and no.
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
    # Agreement of each round, over the parts of all items.
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
    # Each system's share of the label that counts, at the end of the last round.
    counts = [each["key"] for each in options["labels"]].index(options["counts"])
    rows = []
    for system in sorted(set(last.systems)):
        own = last.select_system(system)
        codes, items, documents = _codes_of_parts(own)
        yes = np.where(np.isnan(codes), np.nan, codes == counts)
        share = share_of_yes(yes, items, documents=documents)
        rows.append([text(system), figure(share, count=len(set(items)))])
    name = labels_by_key(last.dimension, "labels")[options["counts"]]
    column = Column("share", gettext("share of “{name}”").format(name=name), ColumnKind.SHARE)
    sort_by_number(rows)
    systems = Table(
        "systems", gettext("Shares of systems"), [SYSTEM, column], rows, says=end_of(rounds), plot="intervals"
    )
    found = [
        (gettext("Krippendorff’s alpha over parts"), alphas),
        (gettext("equal answers about parts"), shares),
    ]
    return [agreement_table(found), systems]


def _codes_of_parts(answers: QuestionAnswers) -> tuple[FloatArray, list[int], list[str]]:
    """Return (raters, parts) positions of labels, NaN for a gap, and (parts,) items and documents."""
    position = {each["key"]: index for index, each in enumerate(answers.dimension.options["labels"])}
    chosen = answers.pieces("parts")
    columns: list[list[float]] = []
    items: list[int] = []
    documents: list[str] = []
    for index, item in enumerate(answers.items):
        lists = [row[index] if isinstance(row[index], list) else [] for row in chosen]
        # Raters may have answered about different numbers of parts; missing answers are gaps.
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
    answers = [_pairwise(each.select(lambda item: len(item.sides) == 2)) for each in rounds]
    options = rounds[0].dimension.options
    drawn = rounds[0].stream
    winner = [preference_alpha(each, generator=drawn) for each in answers]
    found = [(gettext("alpha of the winner, in both orientations"), winner)]
    if options["strength"] > 1:
        by_strength = [preference_alpha(each, by_strength=True, generator=drawn) for each in answers]
        found.append((gettext("alpha of the strength, in both orientations"), by_strength))
    shares = [share_of_agreement(each, generator=drawn) for each in answers]
    found.append((gettext("agreement on the winner"), shares))
    strengths = strengths_by_preference(answers[-1])
    counts = {each.system: (each.verdicts, each.won, each.tied) for each in strengths.systems}
    columns = [
        Column("answers", gettext("answers"), ColumnKind.COUNT),
        Column("won", gettext("won"), ColumnKind.COUNT),
        Column("tied", gettext("tied"), ColumnKind.COUNT),
    ]
    systems = _systems_by_strength(rounds, strengths, _HOW_STRONG, columns, counts)
    return [agreement_table(found), systems, _position(answers[-1], strengths)]


def _systems_by_strength(
    rounds: Rounds,
    strengths: Strengths | RankingStrengths,
    how: object,
    columns: Sequence[Column],
    counts: Mapping[str, Sequence[float]],
) -> Table:
    """Return systems with strengths and ranks. counts: by system, the values of the additional columns."""
    rows = [
        [
            text(each.system),
            strength_cell(each.strength, strengths.documents, strengths.reason, how),
            ranks_cell(each.best, each.worst, strengths.reason),
            alike_cell(each.system, strengths.differences, strengths.reason),
            *map(Cell, counts[each.system]),
        ]
        for each in strengths.systems
    ]
    says, title = f"{STRENGTHS_SAY} {end_of(rounds)}", gettext("Systems by strength")
    return Table("systems", title, [*STRENGTH_COLUMNS, *columns], rows, says=says, plot="intervals")


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
    # Above 0 the first side wins, below 0 the second: it counts if that side is also shown first.
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
    alphas = [ranking_alpha(each, generator=drawn) for each in rankings]
    concordances = [mean_concordance(each, generator=drawn) for each in rankings]
    found = [
        (gettext("alpha of rankings, Kendall’s distance"), alphas),
        (gettext("Kendall’s W, mean over items"), concordances),
    ]
    strengths = plackett_luce(rankings[-1])
    counts = {each.system: (each.rankings, float(each.times_first)) for each in strengths.systems}
    columns = [
        Column("rankings", gettext("rankings"), ColumnKind.COUNT),
        Column("first", gettext("times first"), decimals=1),
    ]
    systems = _systems_by_strength(rounds, strengths, _HOW_RANKED, columns, counts)
    tables = [agreement_table(found), systems]
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
                # A complete answer has one side of rank 1 and one of rank 3; the others have rank 2.
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
    says = f"{gettext('Times best minus times worst, over times shown: from -1 to 1.')} {end_of(rounds)}"
    return Table("best-worst", gettext("Best-worst scores"), columns, rows, says=says, plot="intervals")


def spans_tables(rounds: Rounds) -> list[Table]:
    """Return agreement on spans and on their weights, scores of systems, and errors by category."""
    options = rounds[0].dimension.options
    weights = SpanWeights({each["key"]: each["weight"] for each in options["severities"]})
    names = labels_by_key(rounds[0].dimension, "categories")
    texts = [_texts_with_spans(each) for each in rounds]
    drawn, plan = rounds[0].stream, rounds[0].resampling
    unitizing = partial(unitizing_alpha_by_category, generator=drawn, resampling=plan)
    sums = [mqm_alpha(each, weights, generator=drawn, resampling=plan) for each in texts]
    found = [
        (gettext("F1 of marked characters, mean of pairs"), [span_f1(each) for each in texts]),
        # Without categories, this alpha is about the marked characters alone.
        (gettext("unitizing alpha"), [unitizing(_drop_categories(each), [""])[""] for each in texts]),
        (gettext("alpha of sums of weights"), sums),
    ]
    units = [unitizing(each, list(names)) for each in texts]
    counts = [alpha_by_category(each, list(names), generator=drawn, resampling=plan) for each in texts]
    columns = [
        Column("category", gettext("Category"), ColumnKind.TEXT),
        Column("spans", gettext("spans"), ColumnKind.COUNT),
    ]
    columns += columns_of_rounds(
        rounds, [("units", gettext("unitizing alpha")), ("counts", gettext("alpha of counts"))]
    )
    given = Counter(span.category for each in texts[-1] for spans in each.spans.values() for span in spans)
    rows = [
        [
            text(name, key=key),
            Cell(given[key]),
            *(figure(each[key]) for pair in zip(units, counts, strict=True) for each in pair),
        ]
        for key, name in names.items()
    ]
    categories = Table("categories", gettext("Agreement on each category"), columns, rows)
    last = rounds[-1]
    # At least 1, because an empty output would divide by 0.
    lengths = np.array([max(len(each.texts[0]), 1) for each in last.items])
    scores = [
        ("mqm", gettext("MQM score per item"), last.values),
        ("mqm_per_1000", gettext("per 1,000 characters"), last.values * 1000 / lengths),
    ]
    says = gettext("The sum of the weights of marked errors; lower is better. {round}")
    says = says.format(round=end_of(rounds))
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
        # The offset of each string in the joined one.
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
        replace(
            each,
            spans={
                rater: [replace(span, category="") for span in spans] for rater, spans in each.spans.items()
            },
        )
        for each in texts
    ]


def _count_of(marked: Sequence[Sequence[object]], category: str) -> FloatArray:
    """(raters, items): the number of spans of a category, NaN for a gap."""

    def count(spans: object) -> float:
        return sum(span["category"] == category for span in spans) if isinstance(spans, list) else np.nan

    return np.array([[count(spans) for spans in row] for row in marked], dtype=float)


def has_other_questions(project: Project) -> bool:
    """Return True if a project has a question that is not on a scale. One query."""
    return project.dimensions.exclude(kind=SCALE.key).exists()


def _questions(project: Project) -> Sequence[tuple[str, str]]:
    found = project.dimensions.exclude(kind=SCALE.key).order_by("position").values_list("key", "name")
    if not found:
        sentence = gettext("This project asks for values on scales only; see Agreement and Systems.")
        raise NotReadyError(sentence)
    return list(found)


QUESTION = Parameter("question", gettext_lazy("Question"), _questions)


def questions_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the tables of the chosen question, none before Round I. Up to nine queries."""
    round = round_one(project)
    dimension = guideline_at(project, round).dimension(chosen[QUESTION.name]) if round else None
    return [] if dimension is None else [question_section(project, dimension)]


def question_section(project: Project, dimension: FrozenDimension) -> Section:
    rounds = answers_of_rounds(project, dimension, with_texts=dimension.kind == SPANS.key)
    says = [str(RELIABILITY), *([str(AFTER_DISCUSSION)] if len(rounds) > 1 else [])]
    if rounds[0].round.is_open:
        says.insert(0, gettext("Round I is still open: values may change."))
    return Section(f"{dimension.name}: {kind_of(dimension).name}", " ".join(says), tables_of(rounds))


def generic_tables(rounds: Rounds) -> list[Table]:
    """Return alpha by the kind's own distance, and the mean of `value` of each system."""
    last, tables = rounds[-1], []
    if last.kind.has_distance:
        title = gettext("Krippendorff’s alpha, by the distance of answers")
        tables.append(agreement_table([(title, [_distance_alpha(each) for each in rounds])]))
    low, high = last.kind.bounds(last.dimension.options)
    name = gettext("mean: {name}").format(name=last.kind.number_name)
    return [*tables, means_table(last, [("mean", name, last.values)], low, high, says=end_of(rounds))]


def _distance_alpha(answers: QuestionAnswers) -> Coefficient:
    position: dict[tuple[float, str], int] = {}
    distinct: list[Given] = []
    codes = np.full(answers.values.shape, np.nan)
    for rater, row in enumerate(answers.given):
        for item, given in enumerate(row):
            if given is not None:
                # Equal answers share a code, so distances are computed between different answers only.
                if given.canonical not in position:
                    position[given.canonical] = len(distinct)
                    distinct.append(given)
                codes[rater, item] = position[given.canonical]

    def distance(one: Given, other: Given) -> float:
        return answers.kind.distance(answers.dimension, one, other) or 0.0

    return alpha_by_distance(
        codes,
        distinct,
        distance,
        name=answers.dimension.kind,
        documents=answers.documents,
        generator=answers.stream,
        resampling=answers.resampling,
    )


def text_tables(rounds: Rounds) -> list[Table]:
    """Return the number of written answers, and their lengths."""
    last = rounds[-1]
    columns = [
        Column("rater", gettext("Rater"), ColumnKind.TEXT),
        Column("answers", gettext("answers"), ColumnKind.COUNT),
        Column("characters", gettext("characters"), ColumnKind.COUNT),
    ]
    found = [*zip(last.raters, last.values, strict=True), (gettext("all"), last.values)]
    rows = [[text(name), Cell(int((~np.isnan(own)).sum())), Cell(int(np.nansum(own)))] for name, own in found]
    says = gettext("Texts have no distance, so there is no coefficient. Exports contain the texts.")
    return [Table("answers", gettext("Texts written"), columns, rows, says=says)]


# A function takes the answers of each round and returns tables. `agreement` comes first: a row for each
# coefficient and a column for each round. Tables of systems show what raters hold at the end of the last
# round.
TABLES_OF_KINDS: dict[str, Callable[[Rounds], list[Table]]] = {
    "labels": labels_tables,
    "parts": parts_tables,
    "preference": preference_tables,
    "ranking": ranking_tables,
    "spans": spans_tables,
    "text": text_tables,
}
"""By the key of a kind; others have `generic_tables`."""


def tables_of(rounds: Rounds) -> list[Table]:
    if not rounds[-1].items:
        return []
    return TABLES_OF_KINDS.get(rounds[-1].dimension.kind, generic_tables)(rounds)
