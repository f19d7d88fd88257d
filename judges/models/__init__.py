"""Tables of judges, by concept."""

from judges.models.batches import Batch
from judges.models.certificates import Calibration, Certificate
from judges.models.endpoints import Endpoint
from judges.models.judges import Judge, PromptTemplate, ScoreFrom
from judges.models.routing import CalibrationUnit, RoutedUnit, RoutingPolicy
from judges.models.runs import Judgment, Run

__all__ = [
    "Batch",
    "Calibration",
    "CalibrationUnit",
    "Certificate",
    "Endpoint",
    "Judge",
    "Judgment",
    "PromptTemplate",
    "RoutedUnit",
    "RoutingPolicy",
    "Run",
    "ScoreFrom",
]
