"""The page of trust: may this judge be used on a dimension, what says so, and what to do next."""

from collections.abc import Iterable, Sequence

from django.urls import reverse

from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.registry import Chosen, ResultsPage
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.core.models import Calibration
from judges.results.tables.columns import number_or_reason
from judges.results.tables.corrected import with_count_of_corrected
from judges.results.tables.gaps import with_gaps
from judges.results.tables.parameters import CORRECTED, JUDGE, ROUND, chosen_judge
from judges.results.tables.version import values_of, version_of_judges
from judges.routing.queries.trust import TrustEvidence, TrustVerdict, trust_in

_SAYS = (
    "Each line is read from the strongest evidence that there is: a certificate that holds and that a "
    "constant judge would not have as well, else the test of replacement, else whether R tells where the "
    "judge errs."
)
_EVIDENCE = (
    "Each figure is that of the page that it links to. R, the correlation of the judge with the judge of the "
    "same model that asks in the other way, is the median over systems; P is Spearman’s rho with people’s "
    "means over all items."
)
_ALONE = "R needs an RTS and an MCQ judge of one model, both with values."
_NOT_RATED = "Nobody has rated yet: the test needs the Round I ratings of three annotators or more."
_NO_CERTIFICATE = "No calibration of this judge was computed for this dimension."


def trust_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the verdict on each dimension, and what it rests on."""
    judge = chosen_judge(project, chosen)
    found = trust_in(project, judge, chosen)
    verdicts = Table(
        "verdicts",
        f"May {judge.name} be used?",
        [
            DIMENSION,
            Column("verdict", "Verdict", ColumnKind.TEXT),
            Column("next", "Next", ColumnKind.TEXT),
        ],
        [[_name(each), text(each.verdict.says), _next_step(project, each.verdict)] for each in found],
        says=_SAYS,
    )
    columns = [
        DIMENSION,
        Column("evidence", "Evidence", ColumnKind.TEXT),
        Column("value", "value"),
        Column("says", "What it says", ColumnKind.TEXT),
    ]
    rows = [row for each in found for row in _evidence(project, each)]
    evidence = Table("evidence", "What that rests on", columns, rows, heads=2, says=_EVIDENCE)
    rests_on = with_gaps([Section("Evidence", "", [evidence])], [judge], chosen)
    sections = [Section("Verdict", "", [verdicts]), *rests_on]
    return with_count_of_corrected(sections, [judge], chosen)


def _name(each: TrustEvidence) -> Cell:
    return text(each.dimension.name, key=each.dimension.key)


def _next_step(project: Project, verdict: TrustVerdict) -> Cell:
    return text(verdict.step, link=reverse(verdict.route, args=[project.slug, *verdict.arguments]))


def _evidence(project: Project, each: TrustEvidence) -> Iterable[list[Cell]]:
    def row(name: str, key: str, value: Cell, says: str, route: str, *arguments: object) -> list[Cell]:
        link = reverse(route, args=[project.slug, *arguments])
        return [_name(each), text(name, key=key, link=link), value, text(says)]

    yield row("R", "indicator", *_indicator(each), "results_page", "reliability")
    yield row("P", "agreement", *_agreement(each), "results_page", "judges")
    yield row("Alpha with people", "alpha", *_alpha(each), "results_page", "judges")
    yield row("Replacement", "replacement", *_replacement(each), "results_page", "replacement")
    if each.calibration is not None:
        yield row("Certificate", "certificate", *_certificate(each), "certificate", each.calibration.pk)
    else:
        yield row("Certificate", "certificate", Cell(reason=_NO_CERTIFICATE), "", "certificates")


def _indicator(each: TrustEvidence) -> tuple[Cell, str]:
    if each.pair is None:
        return Cell(reason=_ALONE), ""
    spread = each.pair.figures.indicator_spread
    if spread is None:
        return Cell(reason="R is undefined for every system."), each.pair.reading
    return Cell(spread.median, count=spread.systems), each.pair.reading


def _agreement(each: TrustEvidence) -> tuple[Cell, str]:
    if each.dimension.is_named:
        return Cell(reason="The values are names of categories, which have no order."), ""
    return figure(each.correlation), ""


def _alpha(each: TrustEvidence) -> tuple[Cell, str]:
    own, people = each.alpha.with_mean, each.alpha.among_people
    if own.value is None or people.value is None:
        return figure(own), ""
    compared = "not below" if own.value >= people.value else "below"
    return figure(own), f"It is {compared} alpha among people, {people.value:.3f}."


def _replacement(each: TrustEvidence) -> tuple[Cell, str]:
    if each.test is None:
        return Cell(reason=_NOT_RATED), ""
    why = each.test.reason or ""
    return number_or_reason(each.test.winning_rate, why), each.test.verdict_reason


def _certificate(each: TrustEvidence) -> tuple[Cell, str]:
    state = each.certificate
    assert state is not None  # so the caller says
    assert state.certificate is not None  # its calibration was computed
    lapsed = [f"It lapsed: {sentence}" for sentence in state.lapses]
    return Cell(state.certificate.kept_share), " ".join([*lapsed, state.says, *state.warnings])


def _version(project: Project) -> Sequence[object]:
    computed = Calibration.objects.filter(project=project).order_by("pk")
    return [*version_of_judges(project), *computed.values_list("pk", "status", "name")]


TRUST_PAGE = ResultsPage(
    "trust",
    "May this judge be used?",
    "One verdict for each dimension from what is known of a judge: R, P, alpha with people, the test of "
    "replacement and certificates; each with what it says, and the next step.",
    trust_sections,
    _version,
    values_of,
    [JUDGE, ROUND, CORRECTED],
    filled_by="judges",
)
