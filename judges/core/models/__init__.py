from judges.core.models.alignment import (
    DevelopmentDocument,
    Drafting,
    DriftCheck,
    DriftWatch,
    PromptSearch,
    Proposal,
)
from judges.core.models.endpoints import Endpoint, EndpointKey, LeaseHolder, ModelPace, ModelPrice
from judges.core.models.judges import (
    OF_PROJECT,
    CallOrder,
    Experiment,
    ExperimentVariant,
    Judge,
    MaxTokensName,
    Panel,
    PanelMember,
    PromptTemplate,
    ScoreFrom,
    StepsWriting,
)
from judges.core.models.material import DOCUMENT_PERPLEXITY, DocumentUnits, Metric, MetricValue
from judges.core.models.routing import (
    Calibration,
    CalibrationStage,
    CalibrationUnit,
    Certificate,
    CertifiedStage,
    RoutedUnit,
    RoutingPolicy,
    StageDecision,
    StoppedDimension,
    StoppedStage,
)
from judges.core.models.runs import Batch, Judgment, JudgmentChange, Rereading, Run
