"""R of the usual pair of judges, and its relation to either judge's agreement with people."""

from collections.abc import Sequence

from django.utils.translation import gettext

from agreement import PairMeasure, Stream
from agreement.comparison import CORRELATIONS
from agreement.reliability import Validity, indicator, validity
from annotate.results.table import DIMENSION, Column, Table, figure, text
from judges.core.errors import NoJudgesError
from judges.results.queries.pairings import Pairing, measured_judges, usual_pairing
from judges.results.tables.columns import JUDGE, SYSTEM
from judges.results.tables.compared import ComparedJudges, Scored
from judges.results.tables.streams import stream_of_pair

INDICATORS = {"spearman": "indicator", "pearson": "indicator-pearson", "kendall_tau_b": "indicator-kendall"}
"""The keys of the tables of R by measure."""

Both = Sequence[tuple[Scored, Scored, Stream]]


def indicator_tables(found: ComparedJudges) -> list[Table]:
    """Return R by system and dimension for every measure, and R with P; empty if there is no pair."""
    try:
        pairing = usual_pairing(measured_judges(found.project))
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
    says = gettext(
        "{coefficient} of {rts} with {mcq} over each system’s items: where the model agrees with itself, "
        "not how right it is."
    ).format(coefficient=label, rts=pairing.rts.name, mcq=pairing.mcq.name)
    says = f"{says} {pairing.warning}".strip()
    columns = [Column(rts.dimension.key, rts.dimension.name) for rts, _, _ in both]
    title = gettext("Reliability indicator R ({coefficient})").format(coefficient=label)
    return Table(INDICATORS[name], title, [SYSTEM, *columns], rows, says=says, plot="heat")


def _validity_of(own: Scored, other: Scored, measure: PairMeasure, stream: Stream) -> Validity:
    """Return the predictive value of R for one judge's agreement, with the stream of the reliability page."""
    drawn_with = stream.of("beside people", own.judge.name)
    return validity(own.scores, other.scores.as_read, measure, generator=drawn_with)


def _validity(both: Both) -> Table:
    rows = [
        [
            *own.names,
            *(
                figure(found.correlation, count=found.systems)
                for measure in CORRELATIONS.values()
                for found in [_validity_of(own, other, measure, stream)]
            ),
        ]
        for side in (0, 1)
        for rts, mcq, stream in both
        for own, other in [((rts, mcq), (mcq, rts))[side]]
    ]
    columns = [Column(name, measure.estimator.label) for name, measure in CORRELATIONS.items()]
    says = gettext("Over systems; whether R may be used, with p values, is on the page of reliability.")
    title = gettext("R with agreement with people P")
    return Table("validity", title, [JUDGE, DIMENSION, *columns], rows, heads=2, says=says)
