"""The page of judges and people: one section for all judges together, and one for each."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from django.utils.translation import gettext, gettext_lazy

from agreement import Coefficient, PairMeasure, Stream
from agreement.comparison import CORRELATIONS, Scores
from agreement.reliability import indicator, validity
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.core.scale import normalize
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text
from judges.core.errors import NoJudgesError
from judges.core.models import Judge
from judges.results.queries.answers import AnswersBesidePeople, answers_beside_people
from judges.results.queries.pairings import Pairing, measured_judges, usual_pairing
from judges.results.queries.scores import guideline_of, stream_of_pair
from judges.results.tables.columns import JUDGE, SYSTEM, add_correction_count, add_gaps
from judges.results.tables.compared import ComparedJudges, Scored, Versus, compared_values
from judges.results.tables.parameters import SHARED, counts_corrected
from judges.results.tables.together import strengths_table, tables_together

NO_JUDGMENTS = gettext_lazy("This judge has no judgments yet.")
_ANSWERS_TOGETHER = gettext_lazy("Its answers to other questions are in the table of all judges.")
NO_SHARED_ITEMS = gettext_lazy(
    "There is no item for which every judge has a value. Compare each judge on its own items."
)


def judges_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Raises NoJudgesError if there is no judge. Twelve queries, one more for each judge that compares, and
    three for questions of other kinds.
    """
    found = compared_values(project, chosen)
    answers = answers_beside_people(
        project,
        found.judges,
        guideline_of(project, found.round),
        found.round,
        with_corrected=counts_corrected(chosen),
        shared_items=chosen.get("units") == SHARED,
    )
    together = [*tables_together(found), *indicator_tables(found), *table_of_answers(answers)]
    nothing = str(NO_SHARED_ITEMS) if chosen.get("units") == SHARED else str(NO_JUDGMENTS)
    answering = {each.judge.pk for each in answers}
    of_each = []
    for judge in found.judges:
        tables = _tables_of(judge, found)
        without = str(_ANSWERS_TOGETHER) if judge.pk in answering else nothing
        of_each.append(Section(judge.name, "" if tables else without, tables, anchor_of(judge)))
    round, says = found.round, gettext("There are no ratings yet: only results without people are defined.")
    if round:
        against = (
            gettext("Compared with people’s values at the end of {round}, which is still open.")
            if round.is_open
            else gettext("Compared with people’s values at the end of {round}.")
        )
        says = against.format(round=round)
    if chosen.get("units") == SHARED:
        shared = gettext("On each dimension only the items for which every judge has a value.")
        says = f"{says} {shared}"
    sections = [Section(gettext("All judges"), says, together, "all-judges"), *of_each]
    # Rows warn of gaps, so the table lists only judges without any value.
    sections = add_gaps(sections, found.judges, chosen, only_unread=True)
    return add_correction_count(sections, found.judges, chosen)


def anchor_of(judge: Judge) -> str:
    return f"judge-{judge.pk}"


def _tables_of(judge: Judge, found: ComparedJudges) -> list[Table]:
    key, name = anchor_of(judge), judge.name
    scored, versus = found.scored_by(judge), found.compared_by(judge)
    # A judge that compares outputs gives no scores of single ones.
    if not scored:
        return [strengths_table(key, name, versus), _pairs(key, name, versus)] if versus else []
    tables = []
    amounts = [each for each in scored if not each.dimension.is_named]
    if amounts:
        pairs = [(each.dimension, each.scores) for each in amounts]
        tables += [scatter(key, name, pairs), confusion(key, name, pairs), _quality(key, name, amounts)]
    if named := [(each.dimension, each.scores) for each in scored if each.dimension.is_named]:
        tables.append(named_confusion(key, name, named))
    if repeated := [each for each in scored if each.samples.shape[1] > 1]:
        tables.append(_self_consistency(key, name, repeated))
    return tables


def _quality(key: str, name: str, scored: Sequence[Scored]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(one.system),
            _summary(one.human_mean),
            *(figure(of.coefficient) for of in agreement),
            Cell(one.items),
            _summary(one.human_deviation),
            _summary(one.human_spread),
            _summary(one.judge_mean),
            _summary(one.judge_deviation),
        ]
        for each in scored
        # All of these lists are in the order of the system names.
        for one, *agreement in zip(each.systems, *each.by_system.values(), strict=True)
    ]
    m = [each.meta_correlations["spearman"].value for each in scored]
    in_words = ["undefined" if value is None else f"{value:.2f}".replace("-", "−") for value in m]
    by_dimension = "; ".join(
        f"{each.dimension.name} {value}" for each, value in zip(scored, in_words, strict=True)
    )
    columns = [
        DIMENSION,
        SYSTEM,
        Column("quality", gettext("mean human score"), decimals=2),
        *(
            Column(key, gettext("{coefficient} with people").format(coefficient=one.estimator.label))
            for key, one in CORRELATIONS.items()
        ),
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("human_deviation", gettext("SD of human scores"), decimals=2),
        Column("human_spread", gettext("SD among people"), decimals=2),
        Column("judge_mean", gettext("judge’s mean"), decimals=2),
        Column("judge_deviation", gettext("judge’s SD"), decimals=2),
    ]
    says = gettext(
        "If agreement falls as quality rises, do not use the judge to compare good systems. "
        "M (Spearman): {by_dimension}. "
        "SD of human scores: of the items’ means; among people: within an item, mean over items."
    ).format(by_dimension=by_dimension)
    title = gettext("Quality of systems against agreement with people ({name})").format(name=name)
    return Table(f"{key}-quality", title, columns, rows, heads=2, says=says, plot="quality")


def _summary(found: Coefficient) -> Cell:
    return figure(found, count=found.counts.ratings)


def _self_consistency(key: str, name: str, scored: Sequence[Scored]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(each.samples.shape[1]),
            figure(each.self_consistency),
        ]
        for each in scored
    ]
    columns = [
        DIMENSION,
        Column("samples", gettext("samples"), ColumnKind.COUNT),
        Column("alpha", gettext("alpha over samples")),
    ]
    says = gettext("1: the judge repeats itself on every item. 0: its answers to an item differ by chance.")
    return Table(
        f"{key}-self-consistency",
        gettext("Self-consistency ({name})").format(name=name),
        columns,
        rows,
        says=says,
    )


def _pairs(key: str, name: str, versus: Sequence[Versus]) -> Table:
    columns = [
        DIMENSION,
        Column("first", gettext("first"), ColumnKind.TEXT),
        Column("second", gettext("second"), ColumnKind.TEXT),
        Column("points", gettext("points of the first")),
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("left_out", gettext("left out"), ColumnKind.COUNT),
        Column("consistency", gettext("same after swapping"), ColumnKind.SHARE),
        Column("human_points", gettext("points by people")),
        Column("human_documents", gettext("documents with both"), ColumnKind.COUNT),
    ]
    why = gettext("Judge and people have compared these systems on no document.")
    how = gettext("Points of the first system by mean human scores (function correct_verdicts).")
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(pair.first),
            text(pair.second),
            figure(pair.points, count=pair.documents),
            Cell(pair.documents),
            Cell(pair.left_out),
            figure(pair.consistency.share),
            Cell(
                people.human_points,
                count=people.documents,
                reason=why if people.human_points is None else "",
                how=how,
            ),
            Cell(people.documents),
        ]
        for each in versus
        for pair, people in zip(each.points, each.correct.pairs, strict=True)
    ]
    says = gettext(
        "The winner gets one point; after a tie, both get half a point. Documents without a readable verdict "
        "in both orders are excluded."
    )
    return Table(
        f"{key}-pairs", gettext("Head to head ({name})").format(name=name), columns, rows, heads=3, says=says
    )


Pairs = Sequence[tuple[FrozenDimension, Scores]]

_COUNTED = gettext_lazy("Counts of items with a value of the judge and one of people; nothing is estimated.")


def scatter(key: str, name: str, pairs: Pairs) -> Table:
    rows = []
    for dimension, scores in pairs:
        # Rounded, so that equal means with other last digits are one dot.
        people, judge = np.round(scores.human_means, 4), np.round(scores.judge, 4)
        both = ~np.isnan(people) & ~np.isnan(judge)
        counts = Counter(zip(people[both].tolist(), judge[both].tolist(), strict=True))
        for values, number in sorted(counts.items()):
            cells = [Cell(value, how=str(_COUNTED)) for value in values]
            rows.append([text(dimension.name, key=dimension.key), *cells, Cell(number)])
    columns = [
        DIMENSION,
        Column("people", gettext("mean of people"), decimals=2),
        Column("judge", gettext("judge"), decimals=2),
        Column("items", gettext("items"), ColumnKind.COUNT),
    ]
    title = gettext("The judge’s values against means of people ({name})").format(name=name)
    return Table(f"{key}-scatter", title, columns, rows, plot="scatter")


def confusion(key: str, name: str, pairs: Pairs) -> Table:
    """Return the frequencies of the judge's values for each value of people, one per row.

    The judge's value is rounded to a point of the scale, halves to the even one, and each rating counts once.
    """
    values = sorted({value for dimension, _ in pairs for value in dimension.values})
    rows = []
    for dimension, scores in pairs:
        given = _count_pairs(dimension, scores)
        for person in dimension.values:
            # Dimensions share the columns, so points of other scales stay empty.
            counts = [given[person, judge] if judge in dimension.values else "" for judge in values]
            rows.append(
                [
                    text(dimension.name, key=dimension.key),
                    text(str(person)),
                    *(Cell(count, how=str(_COUNTED)) for count in counts),
                ]
            )
    columns = [
        DIMENSION,
        Column("person", gettext("a person said"), ColumnKind.TEXT),
        *(
            Column(f"judge_{value}", gettext("judge said {value}").format(value=value), ColumnKind.COUNT)
            for value in values
        ),
    ]
    return Table(
        f"{key}-confusion",
        gettext("Confusion of judge and people ({name})").format(name=name),
        columns,
        rows,
        heads=2,
        says=gettext("Every rating of a person once; the judge’s value is rounded to a point of the scale."),
    )


def named_confusion(key: str, name: str, pairs: Pairs) -> Table:
    rows = [
        [
            text(dimension.name, key=dimension.key),
            *(text(dimension.name_of(value), key=str(value)) for value in both),
            Cell(number, how=str(_COUNTED)),
        ]
        for dimension, scores in pairs
        for both, number in sorted(_count_pairs(dimension, scores).items())
    ]
    columns = [
        DIMENSION,
        Column("person", gettext("a person said"), ColumnKind.TEXT),
        Column("judge", gettext("the judge said"), ColumnKind.TEXT),
        Column("ratings", gettext("ratings"), ColumnKind.COUNT),
    ]
    title = gettext("Confusion of judge and people, by name ({name})").format(name=name)
    says = gettext("Every rating of a person once; pairs that never occurred are omitted.")
    return Table(f"{key}-named-confusion", title, columns, rows, heads=3, says=says)


def _count_pairs(dimension: FrozenDimension, scores: Scores) -> Counter[tuple[float, float]]:
    lowest, step = dimension.scale_minimum, dimension.scale_step
    # halves to even values, not even positions
    positions = np.round((scores.judge - lowest) / step + lowest) - lowest
    rounded = np.broadcast_to(lowest + positions * step, scores.human.shape)
    both = ~np.isnan(scores.human) & ~np.isnan(rounded)
    pairs = zip(scores.human[both].tolist(), rounded[both].tolist(), strict=True)
    return Counter((normalize(person), normalize(judge)) for person, judge in pairs)


INDICATORS = {"spearman": "indicator", "pearson": "indicator-pearson", "kendall_tau_b": "indicator-kendall"}
"""The keys of the tables of R by measure."""

Both = Sequence[tuple[Scored, Scored, Stream]]


def indicator_tables(found: ComparedJudges) -> list[Table]:
    """Return R by system and dimension for every measure, and R with P; empty if there is no pair."""
    try:
        pairing = usual_pairing(measured_judges(found.project))
    # Without a pair there is no R, and the other tables stay.
    except NoJudgesError:
        return []
    other = {
        each.dimension.key: each
        for each in found.scored_by(pairing.mcq)
        if not each.dimension.is_named  # a correlation needs an order
    }
    both = [
        (
            each,
            other[each.dimension.key],
            stream_of_pair(found.project, pairing.rts, pairing.mcq, each.dimension),
        )
        for each in found.scored_by(pairing.rts)
        if each.dimension.key in other
    ]
    if not both:
        return []
    by_measure = [_indicator(pairing, both, name, measure) for name, measure in CORRELATIONS.items()]
    return [*by_measure, _validity(both)]


def _indicator(pairing: Pairing, both: Both, name: str, measure: PairMeasure) -> Table:
    by_dimension = [
        indicator(rts.scores, mcq.scores.as_read, measure, generator=stream) for rts, mcq, stream in both
    ]
    rows = [
        [text(cells[0].system), *(figure(cell.coefficient) for cell in cells)]
        for cells in zip(*by_dimension, strict=True)
    ]
    label = measure.estimator.label
    says = pairing.describe_indicator(label)
    columns = [Column(rts.dimension.key, rts.dimension.name) for rts, _, _ in both]
    title = gettext("Reliability indicator R ({coefficient})").format(coefficient=label)
    return Table(INDICATORS[name], title, [SYSTEM, *columns], rows, says=says, plot="heat")


def _validity(both: Both) -> Table:
    rows = []
    # R is the same for both judges; P, and so the relation of R to P, is not.
    for side in (0, 1):
        for *pair, stream in both:
            own, other = pair[side], pair[1 - side]
            # The stream of the page of reliability.
            drawn_with = stream.of("beside people", own.judge.name)
            found = [
                validity(own.scores, other.scores.as_read, measure, generator=drawn_with)
                for measure in CORRELATIONS.values()
            ]
            rows.append([*own.names, *(figure(each.correlation, count=each.systems) for each in found)])
    columns = [Column(name, measure.estimator.label) for name, measure in CORRELATIONS.items()]
    says = gettext("Over systems; whether R may be used, with p values, is on the page of reliability.")
    title = gettext("R with agreement with people P")
    return Table("validity", title, [JUDGE, DIMENSION, *columns], rows, heads=2, says=says)


_SAYS_ANSWERS = gettext_lazy(
    "Agreement is 1 minus the mean distance of a judge’s answer from each person’s, by the distance of the "
    "question’s kind. An item counts once. Chance is not corrected for: compare the value with people among "
    "one another on the same items. Intervals resample documents. There is no control, such as a judge that "
    "always answers the same: the controls of the replacement test need a scale."
)
_NO_DISTANCE = gettext_lazy("Answers in words have no distance.")
_ONE_ORDER = gettext_lazy("Judges answer only preferences in both orders.")
_NO_QUOTES = gettext_lazy("Only spans are quoted.")
_ORDERS = gettext_lazy(
    "Share of comparisons with the same winner, or a tie, in both orders. Where the orders differ, the "
    "judge’s answer is a tie."
)


def table_of_answers(found: Sequence[AnswersBesidePeople]) -> list[Table]:
    if not found:
        return []
    columns = [
        JUDGE,
        DIMENSION,
        Column("items", gettext("items with an answer"), ColumnKind.COUNT),
        Column("with_people", gettext("agreement with people")),
        Column("among_people", gettext("people among one another")),
        Column("both_orders", gettext("same in both orders"), ColumnKind.SHARE),
        Column("unmatched", gettext("quotes not found"), ColumnKind.COUNT),
    ]
    title = gettext("Other questions")
    rows = []
    for each in found:
        orders, is_quoted = each.same_in_both_orders, each.dimension.kind == "spans"
        agreements = [
            figure(coefficient) if coefficient is not None else Cell(reason=str(_NO_DISTANCE))
            for coefficient in (each.with_people, each.among_people)
        ]
        rows.append(
            [
                text(each.judge.name),
                text(each.dimension.name, key=each.dimension.key),
                Cell(each.items),
                *agreements,
                Cell(reason=str(_ONE_ORDER)) if orders is None else Cell(orders, how=str(_ORDERS)),
                Cell(each.unmatched) if is_quoted else Cell(reason=str(_NO_QUOTES)),
            ]
        )
    return [Table("other-questions", title, columns, rows, heads=2, says=str(_SAYS_ANSWERS))]
