from judges.core.models.alignment import DevelopmentDocument, Drafting, PromptSearch, Proposal
from judges.core.models.batches import Batch
from judges.core.models.certificates import Calibration, CalibrationStage, Certificate, CertifiedStage
from judges.core.models.drift import DriftCheck, DriftWatch
from judges.core.models.endpoints import Endpoint, EndpointKey, LeaseHolder, ModelPace, ModelPrice
from judges.core.models.experiments import Experiment, ExperimentVariant
from judges.core.models.judges import (
    OF_PROJECT,
    CallOrder,
    Judge,
    MaxTokensName,
    PromptTemplate,
    ScoreFrom,
)
from judges.core.models.metrics import DOCUMENT_PERPLEXITY, Metric, MetricValue
from judges.core.models.panels import Panel, PanelMember
from judges.core.models.readings import Rereading
from judges.core.models.routing import (
    CalibrationUnit,
    RoutedUnit,
    RoutingPolicy,
    StageDecision,
    StoppedDimension,
    StoppedStage,
)
from judges.core.models.runs import Judgment, JudgmentChange, Run
from judges.core.models.steps import StepsWriting
from judges.core.models.units import DocumentUnits
