"""What annotate exports, each table streamed row by row; annotators appear under their pseudonyms only."""

from annotate.queries.export.disputes import DISPUTE_TABLES
from annotate.queries.export.material import MATERIAL_TABLES
from annotate.queries.export.outcomes import OUTCOME_TABLE
from annotate.queries.export.ratings import HISTORY_TABLE, RATING_TABLES

OWN_TABLES = (*MATERIAL_TABLES, *RATING_TABLES, OUTCOME_TABLE, *DISPUTE_TABLES, HISTORY_TABLE)
