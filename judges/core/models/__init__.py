"""Tables of judges, by concept."""

from judges.core.models.batches import Batch
from judges.core.models.certificates import Calibration, Certificate
from judges.core.models.endpoints import Endpoint
from judges.core.models.holders import LeaseHolder
from judges.core.models.judges import Judge, PromptTemplate, ScoreFrom
from judges.core.models.keys import EndpointKey
from judges.core.models.routing import CalibrationUnit, RoutedUnit, RoutingPolicy
from judges.core.models.runs import Judgment, Run

__all__ = [
    "Batch",
    "Calibration",
    "CalibrationUnit",
    "Certificate",
    "Endpoint",
    "EndpointKey",
    "Judge",
    "Judgment",
    "LeaseHolder",
    "PromptTemplate",
    "RoutedUnit",
    "RoutingPolicy",
    "Run",
    "ScoreFrom",
]
