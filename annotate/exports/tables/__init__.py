"""What annotate exports, each table streamed row by row; annotators appear under their pseudonyms only."""

from annotate.exports.tables.benchmark import BENCHMARK_TABLE
from annotate.exports.tables.disputes import DISPUTE_TABLES
from annotate.exports.tables.material import MATERIAL_TABLES
from annotate.exports.tables.outcomes import OUTCOME_TABLE
from annotate.exports.tables.ratings import (
    ACKNOWLEDGEMENT_TABLE,
    HISTORY_TABLE,
    LOOK_BACK_TABLE,
    RATING_TABLES,
    REVISED_TABLE,
)
from annotate.exports.tables.soft_labels import SOFT_LABEL_TABLE

OWN_TABLES = (
    *MATERIAL_TABLES,
    BENCHMARK_TABLE,
    *RATING_TABLES,
    OUTCOME_TABLE,
    SOFT_LABEL_TABLE,
    *DISPUTE_TABLES,
    HISTORY_TABLE,
    REVISED_TABLE,
    LOOK_BACK_TABLE,
    ACKNOWLEDGEMENT_TABLE,
)
