"""Tables of annotate, by concept. Invariants are database constraints if a database can enforce them."""

from annotate.core.models.audit import (
    AuditEntry,
    AuditRetention,
    Erasure,
    ProjectDeletion,
)
from annotate.core.models.disputes import (
    Dispute,
    DisputeDigest,
    DisputeEvent,
    DisputeLook,
    DisputeRater,
    Nudge,
    Post,
)
from annotate.core.models.exports import Export, Push
from annotate.core.models.gold import GoldItem, GoldValue, PracticeAnswer
from annotate.core.models.images import GuidelineImage
from annotate.core.models.imports import DataImport, UploadPreview
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
    RecordedName,
    Role,
    User,
    token_digest,
)
from annotate.core.models.preferences import Notice, NoticeKind, Preferences
from annotate.core.models.projects import (
    Dimension,
    MeasurementLevelChoices,
    Project,
    SavedTemplate,
    ScalePoint,
)
from annotate.core.models.ratings import PrivateNote, Rating, RatingChange
from annotate.core.models.results import ChangeCount, ComputedResult
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
from annotate.core.models.shared import AttemptCount, SharedEntry, WorkerHeartbeat
from annotate.core.models.webhooks import Delivery, Webhook
