"""The page of trust: a verdict for each dimension, its evidence and the next step."""

from collections.abc import Iterable, Sequence

from django.urls import reverse
from django.utils.text import get_text_list
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from agreement import Coefficient
from agreement.reliability import Ground, JudgeUse, JudgeVerdict, ReplacementControl, Shown, Use
from annotate.core.models import Project
from annotate.results.arrangement import Arrangement, Tables
from annotate.results.page import Section
from annotate.results.registry import Chosen, ResultsPage
from annotate.results.table import (
    BAD,
    DIMENSION,
    GOOD,
    OPEN,
    PARTLY,
    Cell,
    Column,
    ColumnKind,
    Table,
    figure,
    text,
)
from judges.core.models import Calibration, RoutingPolicy
from judges.results.tables.columns import number_or_reason
from judges.results.tables.gaps import add_correction_count, add_gaps, explain_excluded_kinds
from judges.results.tables.parameters import CORRECTED, JUDGE, ROUND, chosen_judge
from judges.results.tables.version import values_of, version_of_judges
from judges.routing.queries.trust import TrustEvidence, trust_in
from judges.routing.queries.verdicts import KeptDimension

_SAYS = gettext_noop(
    "A contradicting audit, alpha with people at or below 0, and too many wrong values rule a judge out. "
    "Else the strongest evidence decides: a certificate, the replacement test with the error on single "
    "texts, then R. Below the verdict: other uses that its error allows."
)
_EVIDENCE = gettext_noop(
    "Each value links to its page. R is the correlation of the judge with the same model’s judge of the "
    "other method (median over systems). P is Spearman’s rho with people’s means over all items. Alpha with "
    "people compares the judge with people’s mean. Change of alpha: alpha of Round I with the judge as one "
    "more rater, minus alpha among people alone."
)
_ALONE = gettext_noop("R needs an RTS and an MCQ judge of one model, both with values.")
_NOT_RATED = gettext_noop("No ratings yet: the test needs the Round I ratings of three annotators or more.")
_NOT_RATED_TWICE = gettext_noop("No ratings yet: alpha needs the Round I ratings of two annotators or more.")
_NO_CERTIFICATE = gettext_noop("This judge has no computed calibration for this dimension.")


_WORDS = {
    Use.ALL: (GOOD, gettext_noop("all units")),
    Use.PART: (PARTLY, gettext_noop("some units")),
    Use.UNKNOWN: (OPEN, gettext_noop("not known")),
    Use.REFUSED: (BAD, gettext_noop("no unit")),
}
_OTHER_USES = {
    JudgeUse.RANK: gettext_noop("ranks systems"),
    JudgeUse.SCORE: gettext_noop("scores texts"),
    JudgeUse.MEANS: gettext_noop("corrects means"),
}


def verdict_cell(verdict: JudgeVerdict, *, link: str = "") -> Cell:
    tone, word = _WORDS[verdict.use]
    uses = [gettext(_OTHER_USES[each.use]) for each in verdict.granted]
    return Cell(gettext(word), key=str(verdict.use), tone=tone, note=", ".join(uses), link=link)


def trust_sections(project: Project, chosen: Chosen) -> list[Section]:
    judge = chosen_judge(project, chosen)
    found = trust_in(project, judge, chosen)
    verdicts = Table(
        "verdicts",
        gettext("Use of {judge} by dimension").format(judge=judge.name),
        [
            DIMENSION,
            Column("use", gettext("May decide"), ColumnKind.TEXT),
            Column("verdict", gettext("Reason"), ColumnKind.TEXT),
            Column("next", gettext("Next step"), ColumnKind.TEXT),
        ],
        [
            [
                _name(each),
                verdict_cell(each.verdict),
                text(each.verdict.says),
                _next_step(project, each),
            ]
            for each in found
        ],
        says=gettext(_SAYS),
        parameters={"judge": judge.name},
    )
    columns = [
        DIMENSION,
        Column("evidence", gettext("Evidence"), ColumnKind.TEXT),
        Column("value", gettext("Value")),
        Column("says", gettext("Description"), ColumnKind.TEXT),
    ]
    rows = [row for each in found for row in _evidence(project, each)]
    evidence = Table("evidence", gettext("Evidence"), columns, rows, heads=2, says=gettext(_EVIDENCE))
    rests_on = add_gaps([Section(gettext("Evidence"), "", [evidence])], [judge], chosen)
    uses = _uses_table(project, found)
    first = [verdicts, uses] if uses.rows else [verdicts]
    sections = [Section(gettext("Verdict"), "", first), *rests_on]
    sections = explain_excluded_kinds(sections, project, gettext(SCALES_ONLY))
    return add_correction_count(sections, [judge], chosen)


SCALES_ONLY = gettext_noop(
    "Verdicts are about scales; the table “Other questions” compares judges and people on the others."
)


def answer_trust(tables: Tables) -> str:
    table = tables.get("verdicts")
    if table is None or not table.rows:
        return ""
    names = {
        use: get_text_list(
            [str(row[0].value) for row in table.rows if row[1].key == str(use)], gettext("and")
        )
        for use in Use
    }
    decides = [
        gettext(message).format(dimensions=names[use]) for use, message in _DECIDES.items() if names[use]
    ]
    found = []
    if decides:
        message = gettext("{judge} may decide {units}.")
        found.append(message.format(judge=table.parameters["judge"], units="; ".join(decides)))
    if names[Use.UNKNOWN]:
        message = gettext("Whether {judge} may decide {dimensions} is not known.")
        found.append(message.format(judge=table.parameters["judge"], dimensions=names[Use.UNKNOWN]))
    return " ".join(found)


_DECIDES = {
    Use.ALL: gettext_noop("all units of {dimensions}"),
    Use.PART: gettext_noop("some units of {dimensions}"),
    Use.REFUSED: gettext_noop("no unit of {dimensions}"),
}


def uses_in_words(verdict: JudgeVerdict) -> str:
    if not verdict.uses and not verdict.refuses:
        return gettext("Not known")
    named = [
        gettext("{use} (for these raters)").format(use=each.use)
        if each.shown is Shown.FOR_PANEL
        else str(each.use)
        for each in verdict.granted
    ]
    found = "; ".join(named) if named else gettext("none shown")
    return found[0].upper() + found[1:]


def _uses_table(project: Project, found: Sequence[TrustEvidence]) -> Table:
    columns = [
        DIMENSION,
        Column("use", gettext("Use"), ColumnKind.TEXT),
        Column("shown", gettext("Finding"), ColumnKind.TEXT),
        Column("says", gettext("Reason and what to do"), ColumnKind.TEXT),
    ]
    link = reverse("results_page", args=[project.slug, "replacement"])
    rows = [
        [
            _name(each),
            text(str(finding.use).capitalize(), key=finding.use.name.lower(), link=link),
            text(str(finding.shown)),
            text(finding.says),
        ]
        for each in found
        for finding in each.verdict.uses
    ]
    says = gettext(
        "From the ratings of Round I. “Shown for these raters” means that the evidence counts documents as a "
        "sample, not raters."
    )
    return Table("uses", gettext("Uses and reasons"), columns, rows, heads=2, says=says)


def _name(each: TrustEvidence) -> Cell:
    return text(each.dimension.name, key=each.dimension.key)


_SEE_WHY = gettext_noop("See evidence")
_STEPS: dict[Ground, tuple[str, str, tuple[str, ...]]] = {
    Ground.ALPHA: (_SEE_WHY, "results_page", ("judges",)),
    Ground.AUDIT: (_SEE_WHY, "routing", ()),
    Ground.ERRORS: (_SEE_WHY, "routing", ()),
    Ground.INDICATOR: (gettext_noop("Send units to people"), "routing_new", ()),
    Ground.REPLACEMENT: (_SEE_WHY, "results_page", ("replacement",)),
    Ground.SINGLE_TEXTS: (_SEE_WHY, "results_page", ("replacement",)),
}


def _next_step(project: Project, each: TrustEvidence) -> Cell:
    verdict, calibration = each.verdict, each.calibration
    by_certificate = verdict.ground in (Ground.CERTIFICATE, Ground.CERTIFIED_CONSTANT)
    if calibration is not None and by_certificate:
        link = reverse("certificate", args=[project.slug, calibration.pk])
        return text(gettext("See the certificate"), link=link)
    step, route, arguments = _STEPS.get(verdict.ground, ("", "", ()))
    if not step or verdict.use is Use.ALL:
        step, route, arguments = gettext_noop("Sample a calibration"), "certificate_new", ()
    return text(gettext(step), link=reverse(route, args=[project.slug, *arguments]))


def _evidence(project: Project, each: TrustEvidence) -> Iterable[list[Cell]]:
    def row(name: str, key: str, value: Cell, says: str, route: str, *arguments: object) -> list[Cell]:
        link = reverse(route, args=[project.slug, *arguments])
        return [_name(each), text(name, key=key, link=link), value, text(says)]

    alphas, among = gettext("Alpha with people"), gettext("Alpha among people")
    yield row(alphas, "alpha", *_format_with_interval(each.alpha.with_mean), "results_page", "judges")
    yield row(
        among, "among-people", *_format_with_interval(each.alpha.among_people), "results_page", "judges"
    )
    replacement, controls = gettext("Replacement"), gettext("Beyond controls")
    yield row(replacement, "replacement", *_replacement(each), "results_page", "replacement")
    yield row(controls, "controls", *_controls(each), "results_page", "replacement")
    yield row("R", "indicator", *_indicator(each), "results_page", "reliability")
    yield row("P", "agreement", *_agreement(each), "results_page", "judges")
    yield row(gettext("Bias"), "bias", *_bias(each), "results_page", "judges")
    change = gettext("Change of alpha")
    yield row(change, "one-more-rater", *_one_more_rater(each), "results_page", "replacement")
    certificate = gettext("Certificate")
    if each.calibration is not None:
        yield row(certificate, "certificate", *_certificate(each), "certificate", each.calibration.pk)
    else:
        yield row(certificate, "certificate", Cell(reason=gettext(_NO_CERTIFICATE)), "", "certificates")
    yield row(gettext("Audit"), "routing", *_routing(each.policy), "routing")


def _format_with_interval(found: Coefficient) -> tuple[Cell, str]:
    if found.interval is None:
        return figure(found), ""
    message = gettext("{level:g} % interval {low:.2f} to {high:.2f}.")
    low, high = found.interval.low, found.interval.high
    return figure(found), message.format(level=100 * found.interval.confidence_level, low=low, high=high)


def _indicator(each: TrustEvidence) -> tuple[Cell, str]:
    if each.pair is None:
        return Cell(reason=gettext(_ALONE)), ""
    spread = each.pair.figures.indicator_spread
    if spread is None:
        return Cell(reason=gettext("R is undefined for every system.")), each.pair.reading
    return Cell(spread.median, count=spread.systems), each.pair.reading


def _agreement(each: TrustEvidence) -> tuple[Cell, str]:
    if each.dimension.is_named:
        return Cell(reason=gettext("The values are category names, which have no order.")), ""
    return _format_with_interval(each.correlation)


def _one_more_rater(each: TrustEvidence) -> tuple[Cell, str]:
    if each.one_more_rater is None:
        return Cell(reason=gettext(_NOT_RATED_TWICE)), ""
    return figure(each.one_more_rater.difference), each.one_more_rater.says


def _bias(each: TrustEvidence) -> tuple[Cell, str]:
    bias = each.known.bias
    if bias is None:
        return Cell(reason=gettext("No unit has a value from the judge and from people.")), ""
    message = (
        gettext("On average {points:.2f} points above people.")
        if bias > 0
        else gettext("On average {points:.2f} points below people.")
    )
    return Cell(bias), message.format(points=abs(bias))


def _replacement(each: TrustEvidence) -> tuple[Cell, str]:
    if each.test is None:
        return Cell(reason=gettext(_NOT_RATED)), ""
    why = each.test.reason or ""
    return number_or_reason(each.test.winning_rate, why), each.test.verdict_reason


def _controls(each: TrustEvidence) -> tuple[Cell, str]:
    """Return the gain over the control that the judge beats least, and in words whether it beats all."""
    controls = list(each.test.controls.values()) if each.test else []
    if not controls:
        return Cell(reason=gettext(_NOT_RATED)), ""

    def lower_bound(control: ReplacementControl) -> float:
        return control.interval[0] if control.interval else -1.0

    least = min(controls, key=lower_bound)
    low, high = least.interval or (None, None)
    why = "" if least.interval else gettext("Too few documents, or the same difference in each.")
    unbeaten = [control.answers for control in controls if not control.is_beaten]
    message = gettext("Not shown to beat: {controls}.").format(controls="; ".join(unbeaten))
    return (
        Cell(least.gain, low=low, high=high, interval_reason=why),
        message if unbeaten else gettext("It beats every control; the value is of the one nearest to it."),
    )


def _certificate(each: TrustEvidence) -> tuple[Cell, str]:
    state = each.certificate
    assert state is not None  # so the caller says
    assert state.certificate is not None  # its calibration was computed
    lapsed = [gettext("Lapsed: {reason}").format(reason=reason) for reason in state.lapses]
    return Cell(state.certificate.kept_share), " ".join([*lapsed, state.says, *state.warnings])


def _routing(policy: KeptDimension | None) -> tuple[Cell, str]:
    if policy is None:
        return Cell(reason=gettext("No policy routes units by this judge.")), ""
    found, message = policy.errors, gettext("By the ratings before routing, the judge is {errors}.")
    if policy.audit is not None:
        found = policy.audit
        message = gettext("The audit contradicts the policy: the judge is {errors}.")
    if found is None:
        return Cell(reason=gettext("The audit does not contradict the policy.")), ""
    return Cell(found.share, count=found.rated), message.format(errors=found)


def version_of_trust(project: Project) -> Sequence[object]:
    """Return a version that changes with a judge, a rating, a certificate or a policy."""
    computed = Calibration.objects.filter(project=project).order_by("pk")
    routed = RoutingPolicy.objects.filter(project=project).order_by("pk")
    return [
        *version_of_judges(project),
        *computed.values_list("pk", "status", "name"),
        *routed.values_list("pk", "status"),
    ]


TRUST_PAGE = ResultsPage(
    "trust",
    gettext_noop("Verdicts"),
    gettext_noop(
        "One verdict for each dimension from all evidence on a judge: R, P, alpha with people, bias, the "
        "change of alpha, the replacement test, certificates and routing; with the next step."
    ),
    trust_sections,
    version_of_trust,
    values_of,
    [JUDGE, ROUND, CORRECTED],
    filled_by="judges",
    arrangement=Arrangement(
        tabs={"verdicts": _("Verdicts"), "evidence": _("Evidence"), "uses": _("Uses and reasons")},
        in_words=("verdicts", "evidence", "uses"),
        has_chart=False,
        answer=answer_trust,
    ),
)
