"""Tables of marked spans: agreement on them, MQM scores, and errors by category."""

from collections.abc import Iterable, Sequence

import numpy as np
from django.utils.translation import gettext

from agreement import (
    MarkedSpan,
    SpannedText,
    SpanWeights,
    alpha_by_category,
    mqm_alpha,
    span_f1,
    unitizing_alpha_by_category,
)
from agreement.data import FloatArray
from annotate.results.questions.answers import QuestionAnswers, labels_by_key
from annotate.results.questions.shared import (
    Rounds,
    agreement_table,
    columns_of_rounds,
    end_of,
    means_table,
)
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, text


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
