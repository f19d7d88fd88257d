"""OP-I (Siledar et al., 2024, sec. 3.1, app. C.1): one prompt in which only the metric changes.

Blocks in the paper's order: task, criteria by degrees, metric, document, output, steps, form of the answer.
"""

from bisect import bisect
from collections.abc import Sequence
from types import MappingProxyType

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods import scales
from judges.methods.scoring import ScoreMethod
from judges.methods.wording import MATERIAL, paragraphs

TEMPLATE = paragraphs(
    """\
Task:
A text was written for a document. Judge how far the text follows the metric below, and nothing else about
it.

Evaluation criteria:
Give one score in <score> tags. It says to which degree the text follows the metric:
{{ degrees }}

Metric:
{{ dimension }}: {{ definition }}
{{ guidelines }}
""",
    MATERIAL,
    """\
Evaluation steps:
1. Say in your own words what {{ dimension }} asks for, and what you have to look at to judge it.
2. Go through the text by these steps. Keep to {{ dimension }}; other metrics are judged elsewhere.
3. Name what the text does of what the metric asks, and what is missing or wrong.
4. Decide to which degree the metric is followed, and give the score of that degree, {{ answer }}.

Form of the answer: first what is addressed, then what is missing, the score last in tags, like this:
Score- <score>(the score)</score>
""",
)

DEGREES = (
    "the text does not follow the metric at all",
    "the text follows the metric to a small extent",
    "the text follows the metric to a good extent, and misses it as often",
    "the text follows the metric mostly",
    "the text follows the metric completely",
)
MOST_LINES = 10
"""Points that have a line each; of longer scales as many points as there are degrees have one."""


class OnePromptForAll(ScoreMethod):
    """Prompts for the covered and missed aspects, then the degree to which an output follows a metric."""

    key = "op_i"
    label = "OP-I: one prompt for all dimensions"
    default_template = TEMPLATE
    answer_form = "Score- <score>{answer}</score>"
    own_placeholders = frozenset({"degrees"})
    max_tokens = 600
    usual_settings = MappingProxyType({"samples": 100, "temperature": 0.7})

    def refuses(self, dimension: FrozenDimension) -> str | None:
        """Return the reason if the dimension is categorical, because categories are no degrees."""
        if scales.is_named(dimension):
            return gettext(
                "{dimension} has named categories, and they are no degrees; use “Named categories”."
            ).format(dimension=dimension.name)
        return None

    def own_values(self, dimension: FrozenDimension) -> dict[str, str]:
        """Return a line for each point of the scale, or for five points of a long one."""
        return {"degrees": degrees(dimension.whole_values)}


def degrees(values: Sequence[int]) -> str:
    """Return the degree for each point of a scale, the lowest first: "1 = ... not ... at all".

    values: the points of a scale, in ascending order, at least two.
    """
    shown = values if len(values) <= MOST_LINES else _spread(values)
    return "\n".join(f"{value} = {_degree(value, values)}" for value in shown)


def _spread(values: Sequence[int]) -> list[int]:
    # Both ends are among them, and rounding picks the points nearest to equal steps.
    last = len(values) - 1
    return [values[round(index * last / (len(DEGREES) - 1))] for index in range(len(DEGREES))]


def _degree(value: int, values: Sequence[int]) -> str:
    """Return the degree nearest to a value's position between the ends; of two as near the lower one."""
    share = (value - values[0]) / (values[-1] - values[0])
    halfway = [(index + 0.5) / (len(DEGREES) - 1) for index in range(len(DEGREES) - 1)]
    # The small step below makes exact halves fall to the lower degree despite rounding errors.
    return DEGREES[bisect(halfway, share - 1e-9)]


METHOD = OnePromptForAll()
