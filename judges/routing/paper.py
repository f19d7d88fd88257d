"""The section of a paper about judges: settings, agreement with people, verdicts."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from django.db.models import Count, Max, Min, Q
from django.utils.translation import gettext

from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.core.rounds import last_round
from annotate.exports.formats.datasheet import write_days
from annotate.exports.paper.parts import (
    Latex,
    PaperPage,
    PaperPart,
    PaperTable,
    cite,
    count_words,
    format_latex,
    join_words,
    read_page,
    write_caption,
)
from annotate.results.registry import result_of
from annotate.results.table import DIMENSION, Column, ColumnKind, Table, text
from judges.core.models import Judge, Judgment
from judges.methods import METHODS
from judges.results.queries.pairings import measured_judges
from judges.results.tables.columns import sentence_of_development
from judges.routing.queries.trust import TrustEvidence, trust_in
from judges.routing.results import uses_in_words

_DONE = Q(judgments__status=Judgment.Status.DONE)
_TRIED = Q(
    judgments__status__in=[Judgment.Status.UNREADABLE, Judgment.Status.FAILED, Judgment.Status.EXCLUDED]
)


def judges_in_paper(project: Project) -> list[PaperPart]:
    judges = list(
        Judge.objects.filter(project=project)
        .select_related("template")
        .annotate(
            values_count=Count("judgments", filter=_DONE),
            without_value=Count("judgments", filter=_TRIED),
            first=Min("judgments__answered_at"),
            last=Max("judgments__answered_at"),
        )
        .filter(Q(values_count__gt=0) | Q(without_value__gt=0))
        .order_by("name")
    )
    if not judges:
        nothing = Latex("No judge has given a value.")
        return [PaperPart("Judges", methods=[Latex("No language model judged the items.")], text=nothing)]
    page, last = read_page(project, "judges"), last_round(project)
    values = (  # that the page of judges compares with
        "values of Round I (independent)"
        if last is None or last.is_independent
        else "values at the end of Round II (after discussion)"
    )
    measured = measured_judges(project)
    trusts = {}
    for judge in measured:
        with suppress(DomainError):  # there is nothing of people to compare it with
            chosen = result_of(project, "trust", {"judge": str(judge.pk)}).chosen
            if trust := trust_in(project, judge, chosen):
                trusts[judge.name] = trust
    # Some judges compare pairs, and some have unreadable replies only.
    unscored = sorted({judge.name for judge in judges} - {judge.name for judge in measured})
    return [
        PaperPart(
            "Judges",
            methods=[_description(judges)],
            text=_text(page.reason, unscored, sentence_of_development(judges[0])),
            tables=[
                *page.table(
                    *("scoring", "judge", "dimension", "items", "spearman", "with_mean", "among_people"),
                    title="Judges compared with people: Spearman's rho and Krippendorff's alpha with the "
                    f"mean of people, and alpha among people, by {values}",
                ),
                *_alphas(page, values),
                *_verdicts(trusts, values),
            ],
            limitations=list(_limitations(judges, trusts)),
            latest=max((judge.last for judge in judges if judge.last), default=None),
        )
    ]


def _description(judges: Sequence[Judge]) -> Latex:
    head = format_latex("Language models judged the same items. Judges: {count}.", count=len(judges))
    lines = []
    for judge in judges:
        first, last = judge.first, judge.last  # type: ignore[attr-defined]
        line = format_latex(
            "{name}: model {model}, method {method}, {settings}; "
            "{values} and {gaps} without a value, {days}.",
            name=judge.name,
            model=judge.model or "unknown",
            method=METHODS[judge.method].label if judge.method in METHODS else judge.method,
            settings=_settings(judge),
            values=count_words(judge.values_count, "value"),  # type: ignore[attr-defined]
            gaps=count_words(judge.without_value, "judgment"),  # type: ignore[attr-defined]
            days=write_days(first, last) if first and last else "on days that are not known",
        )
        lines.append(rf"\item {line}")
    items = "\n".join(lines)
    return Latex(f"{head}\n\\begin{{itemize}}\n{items}\n\\end{{itemize}}")


def _settings(judge: Judge) -> str:
    if judge.template is None:  # imported judgments; its columns hold defaults
        return "prompt and temperature not recorded"
    temperature = "not sent" if judge.temperature is None else f"{judge.temperature:g}"
    samples = count_words(judge.samples, "sample")
    return f"prompt {judge.template}, temperature {temperature}, {samples} of each unit"


def _text(reason: str, unscored: Sequence[str], development: str) -> Latex:
    if reason:
        return format_latex("Judges cannot be compared with people: {reason}", reason=reason)
    sources = cite("calderon2025", "shen2023", "jung2025")
    sentences = [
        "Alpha with the mean of people and alpha among people are not comparable, since a mean varies less "
        "than single ratings. A verdict on each dimension weighs the agreement with people, the replacement "
        "test, certificates, and R, the correlation of a model's scores by reasons first and by multiple "
        f"choice {sources}."
    ]
    if unscored:
        names = join_words(unscored)
        sentences.append(
            format_latex("The tables leave out {names}: no scores of single outputs.", names=names)
        )
    if development:
        sentences.append(format_latex("{development}", development=development))
    return Latex(" ".join(sentences))


def _alphas(page: PaperPage, values: str) -> Iterator[PaperTable]:
    """Yield the plot of alpha with each judge as one more rater: dimensions in rows, judges in columns."""
    table = page.kept.table("alphas") if page.kept else None
    if table is None:
        return
    # A row has judge, dimension, alpha among people and alpha with the judge.
    cells = {(row[1].value, row[0].value): (row[1], row[3]) for row in table.rows}
    dimensions, names = (list(dict.fromkeys(key[index] for key in cells)) for index in (0, 1))
    rows = []
    for dimension in dimensions:
        own = [cells[dimension, name] for name in names if (dimension, name) in cells]
        # A row needs a value of every judge, because the plot has a column for each.
        if len(own) == len(names):
            rows.append([own[0][0], *(alpha for _, alpha in own)])
    columns = [DIMENSION, *(Column(f"judge_{index}", str(name)) for index, name in enumerate(names))]
    title = gettext("Alpha with each judge as one more rater")
    drawn = Table("with-judges", title, columns, rows, plot="intervals")
    says = f"Krippendorff's alpha of people with each judge as one more rater, by {values}"
    caption = write_caption(drawn, says)
    if rows:
        yield PaperTable("judges", drawn, caption, is_figure=True)


def _verdicts(trusts: dict[str, Sequence[TrustEvidence]], values: str) -> Iterator[PaperTable]:
    rows = [
        [
            text(name),
            text(each.dimension.name, key=each.dimension.key),
            text(uses_in_words(each.verdict)),
            text(each.verdict.says),
        ]
        for name, trust in trusts.items()
        for each in trust
    ]
    if rows:
        columns = [
            Column("judge", gettext("Judge"), ColumnKind.TEXT),
            DIMENSION,
            Column("uses", gettext("Uses"), ColumnKind.TEXT),
            Column("verdict", gettext("Units it may decide"), ColumnKind.TEXT),
        ]
        table = Table("verdicts", gettext("Verdicts"), columns, rows, heads=2)
        yield PaperTable(
            "trust", table, write_caption(table, f"Verdict on each judge by dimension, {values}")
        )


def _limitations(judges: Sequence[Judge], trusts: dict[str, Sequence[TrustEvidence]]) -> Iterator[Latex]:
    for name, trust in trusts.items():
        if refused := [each.dimension.name for each in trust if each.verdict.refuses]:
            yield format_latex(
                "{judge} must not decide on {dimensions}.", judge=name, dimensions=join_words(refused)
            )
        if uncertified := [each.dimension.name for each in trust if each.known.certificate is None]:
            yield format_latex(
                "{judge} has no valid certificate on {dimensions}.",
                judge=name,
                dimensions=join_words(uncertified),
            )
    for judge in judges:
        if gaps := judge.without_value:  # type: ignore[attr-defined]
            yield format_latex("Judgments of {judge} without a value: {count}.", judge=judge.name, count=gaps)
