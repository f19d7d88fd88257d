"""What annotate exports, each table streamed row by row; annotators appear under their pseudonyms only."""

from annotate.exports.tables.benchmark import BENCHMARK_TABLE
from annotate.exports.tables.disputes import DISPUTE_EVENTS, DISPUTES, POSTS
from annotate.exports.tables.material import (
    COMPARISONS,
    DOCUMENTS,
    GUIDELINES,
    ITEMS,
    PARTS,
    PROJECT,
)
from annotate.exports.tables.outcomes import OUTCOME_TABLE
from annotate.exports.tables.raters import RATERS
from annotate.exports.tables.ratings import (
    ACKNOWLEDGEMENTS,
    ASSIGNMENTS,
    HISTORY,
    RATINGS,
)
from annotate.exports.tables.soft_labels import SOFT_LABEL_TABLE
from annotate.exports.tables.spans import SPAN_TABLE

OWN_TABLES = (
    *(PROJECT, GUIDELINES, DOCUMENTS, ITEMS, COMPARISONS, PARTS, BENCHMARK_TABLE),
    *(RATINGS, ASSIGNMENTS, OUTCOME_TABLE, SOFT_LABEL_TABLE),
    *(DISPUTES, POSTS, DISPUTE_EVENTS),
    *(HISTORY, ACKNOWLEDGEMENTS, RATERS, SPAN_TABLE),
)
