"""What annotate exports, each table streamed row by row; annotators appear under their pseudonyms only."""

from annotate.exports.tables.material import COMPARISONS, DOCUMENTS, GUIDELINES, ITEMS, PARTS, PROJECT
from annotate.exports.tables.outcomes import BENCHMARK_TABLE, OUTCOME_TABLE, SOFT_LABEL_TABLE
from annotate.exports.tables.ratings import (
    ACKNOWLEDGEMENTS,
    ASSIGNMENTS,
    DISPUTE_EVENTS,
    DISPUTES,
    HISTORY,
    POSTS,
    RATERS,
    RATINGS,
    SPAN_TABLE,
)

OWN_TABLES = (
    *(PROJECT, GUIDELINES, DOCUMENTS, ITEMS, COMPARISONS, PARTS, BENCHMARK_TABLE),
    *(RATINGS, ASSIGNMENTS, OUTCOME_TABLE, SOFT_LABEL_TABLE),
    *(DISPUTES, POSTS, DISPUTE_EVENTS),
    *(HISTORY, ACKNOWLEDGEMENTS, RATERS, SPAN_TABLE),
)
