"""The kinds of bias on the laboratory's page: titles, measures, and what each needs."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from judges.results.tables.columns import ABOUT_INTERVALS_OF_M


@dataclass(frozen=True)
class KindOfBias:
    """A kind of bias: title and description of its section, and its measures by column."""

    key: str
    title: str | Promise
    says: str | Promise
    measures: Mapping[str, str | Promise]
    caution: str | Promise = ""


SEVERITY = KindOfBias(
    "severity",
    gettext_lazy("Severity and range"),
    gettext_lazy(
        "Severity is the judge’s mean minus people’s. The ratio of standard deviations is below 1 if "
        "a judge uses less of the range than a person. Excess of the most frequent point, and the "
        "distance of the values from people’s (Wasserstein). The control compares each person with "
        "the others: the least and the largest. A distance is found if it is surely above the largest."
    ),
    {
        "severity": "severity",
        "spread": gettext_lazy("SD ratio"),
        "modal": gettext_lazy("most frequent point"),
        "distance": "distance",
    },
)
LENGTH = KindOfBias(
    "length",
    "Length",
    gettext_lazy(
        "Points that the judge adds to an output one standard deviation longer (logarithm of its characters) "
        "than another of the same system and the same quality. Quality is estimated from two or more raters "
        "of an item, so rating errors do not bias the result. Control: what quality and length do not "
        "explain, shuffled across items."
    ),
    {"length": gettext_lazy("points for longer texts")},
)
FAMILIARITY = KindOfBias(
    "familiarity",
    "Familiarity",
    gettext_lazy(
        "Points that the judge adds to an output with a perplexity one standard deviation higher, at the "
        "same quality, within systems; below 0 it prefers outputs that are familiar to a model."
    ),
    {"familiarity": gettext_lazy("points for less familiar texts")},
)
FAMILY = KindOfBias(
    "self-preference",
    "Self-preference",
    gettext_lazy("Points that the judge adds to outputs of its own family, at the same quality."),
    {"self_preference": gettext_lazy("for its own family")},
)
ANCHORING = KindOfBias(
    "anchoring",
    gettext_lazy("Anchoring between dimensions"),
    gettext_lazy(
        "Correlation of errors: over pairs of dimensions, of what quality does not explain in the judge’s "
        "values; 0 if the judge treats each dimension separately. Beyond people: the mean correlation "
        "between dimensions, minus the one that people’s quality explains. A judge with a ceiling below "
        "people’s can show a correlation."
    ),
    {"errors": gettext_lazy("correlation of errors"), "beyond": gettext_lazy("correlation beyond people")},
)
BEFORE = KindOfBias(
    "score-before",
    gettext_lazy("Anchoring to the score before"),
    gettext_lazy(
        "For calls with several dimensions: each dimension compared with the one before it, by the "
        "measures above. Pearson of judge and people uses the same items."
    ),
    {
        "errors": gettext_lazy("errors with the dimension before"),
        "beyond": gettext_lazy("beyond people, dimension before"),
    },
)
POSITION = KindOfBias(
    "place",
    gettext_lazy("Position in a call"),
    gettext_lazy(
        "The effect of other dimensions before a dimension in the call, compared with its results as "
        "the first: its correlation with people (Pearson), and its mean error in points. Control: the"
        " positions shuffled across items. Kendall’s correlation is listed for each position."
    ),
    {
        "correlation": gettext_lazy("correlation, later minus first"),
        "shift": gettext_lazy("mean error, later minus first"),
    },
)
PAIRS = KindOfBias(
    "position",
    gettext_lazy("Position in a pair"),
    gettext_lazy(
        "Of the outcomes that change when the two outputs are swapped: 1 if all go to the second "
        "output, −1 if all to the first. p is McNemar’s exact one."
    ),
    {"place": gettext_lazy("towards the second text")},
)
OPTIONS = KindOfBias(
    "options",
    gettext_lazy("Order of options"),
    gettext_lazy(
        "The same model with the options of a multiple choice in reverse order. The shift is above 0 "
        "if it prefers the first options."
    ),
    {"shift": gettext_lazy("shift to the first option"), "changed": gettext_lazy("items that change")},
)
ROUND = KindOfBias(
    "round-numbers",
    gettext_lazy("Round numbers"),
    gettext_lazy(
        "The share of multiples of 5 and 10 among answers on a long scale, minus 1/5 and 1/10. Answers near "
        "the ends do not count: the best outputs get 100 from any judge."
    ),
    {"fives": gettext_lazy("multiples of 5"), "tens": gettext_lazy("multiples of 10")},
)
REPEATS = KindOfBias(
    "self-inconsistency",
    "Self-inconsistency",
    gettext_lazy(
        "The standard deviation of a judge’s samples of one item, in points; the control is people who rate "
        "one item. Found: surely more than theirs."
    ),
    {"samples": gettext_lazy("SD of samples")},
)
QUALITY = KindOfBias(
    "quality",
    gettext_lazy("Decline with quality"),
    gettext_lazy(
        "M: the correlation over systems of the judge’s agreement with people and the mean human score. "
        "Control: the judge’s errors shuffled across items; near the end of a scale M is below 0 for any "
        "judge."
    ),
    {"m": gettext_lazy("M, Spearman")},
    ABOUT_INTERVALS_OF_M,
)
NEEDS_PAIRS = gettext_lazy(
    "Needs a judge that compares two outputs (head to head, pairwise), in both orders."
)
NEEDS_OPTIONS = gettext_lazy(
    "Needs two judges of one model, by “Multiple choice” and by “Multiple choice, options reversed”."
)
NEEDS_PERPLEXITY = gettext_lazy(
    "Needs a metric with “perplexity” in its name: measure it with a model that returns log-"
    "probabilities (manage.py perplexity), or import the perplexity of each output (Data, "
    "Metrics)."
)
BY_RATING = gettext_lazy(
    "Mean perplexity at each rating of an output; a value between two points counts as the "
    "nearer one. Both columns use the same outputs. If a judge prefers familiar outputs, its "
    "means fall more steeply with the rating than people’s."
)
NEEDS_DIMENSIONS = gettext_lazy("A judge with values on two dimensions of the same items is needed.")
NEEDS_SEVERAL = gettext_lazy("A judge by the method “Several dimensions in one call” is needed.")
NEEDS_ROTATION = gettext_lazy(
    "A judge by the method “Several dimensions in one call”, in rotated order, is needed."
)
NAMED = gettext_lazy("Categories have no distance, so biases are not measured.")
SENSITIVITY = gettext_lazy("Experiments show the effect of wording, scale and method on the judge’s values.")
