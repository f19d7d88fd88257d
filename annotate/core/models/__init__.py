"""Tables of annotate, by concept. Invariants are database constraints if a database can enforce them."""

from annotate.core.models.disputes import (
    Dispute,
    DisputeDigest,
    DisputeEvent,
    DisputeLook,
    DisputeRater,
    Nudge,
    Post,
)
from annotate.core.models.images import GuidelineImage
from annotate.core.models.imports import DataImport, Export, Push, UploadPreview
from annotate.core.models.living import (
    Addition,
    BridgingItem,
    Edition,
    PublicLeaderboard,
    Submission,
    Version,
    VersionPart,
    VersionRequest,
)
from annotate.core.models.material import (
    ComparisonSide,
    Document,
    Item,
    ItemPart,
    ItemTag,
    System,
    TextFormat,
    text_digest,
)
from annotate.core.models.outside import OutsideRater, OutsideStudy, PayRule
from annotate.core.models.people import (
    AccountMail,
    ApiToken,
    CountingDecision,
    FormerName,
    Invitation,
    KeptAnswer,
    Membership,
    Notice,
    NoticeKind,
    Preferences,
    RecordedName,
    Role,
    User,
    token_digest,
)
from annotate.core.models.projects import (
    Dimension,
    MeasurementLevelChoices,
    Project,
    SavedTemplate,
    ScalePoint,
)
from annotate.core.models.ratings import (
    GoldItem,
    GoldValue,
    PracticeAnswer,
    PrivateNote,
    Rating,
    RatingChange,
)
from annotate.core.models.records import (
    AttemptCount,
    AuditEntry,
    AuditRetention,
    ChangeCount,
    ComputedResult,
    Delivery,
    Erasure,
    ProjectDeletion,
    SharedEntry,
    Webhook,
    WorkerHeartbeat,
)
from annotate.core.models.rounds import (
    Acknowledgement,
    AssignedUnit,
    Assignment,
    AssignmentPlan,
    DimensionOrder,
    Guideline,
    Round,
    WorkOrder,
)
