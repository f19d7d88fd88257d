"""Tables of labels: of sets of them, and of the labels of parts."""

from itertools import zip_longest

import numpy as np
from django.utils.translation import gettext

from agreement import (
    LabelAnswers,
    ReliabilityData,
    agreement_by_label,
    jaccard_distance,
    krippendorff_alpha,
    label_alpha,
    label_rates,
    masi_distance,
    percent_agreement,
    share_of_yes,
)
from agreement.data import FloatArray
from annotate.results.questions.answers import QuestionAnswers, labels_by_key
from annotate.results.questions.shared import (
    SYSTEM,
    Rounds,
    agreement_table,
    columns_of_rounds,
    end_of,
    number_in,
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
