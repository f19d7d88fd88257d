"""Tables of annotate, by concept. Invariants are database constraints wherever a database can hold them."""

from annotate.models.audit import AuditEntry, ProjectDeletion
from annotate.models.digests import DisputeDigest, DisputeLook
from annotate.models.disputes import Dispute, DisputeEvent, Nudge, Post
from annotate.models.exports import Export
from annotate.models.gold import GoldItem, GoldValue, PracticeAnswer
from annotate.models.images import GuidelineImage
from annotate.models.imports import DataImport
from annotate.models.material import Document, Item, System, text_digest
from annotate.models.notes import PrivateNote
from annotate.models.people import Invitation, Membership, Role, User
from annotate.models.plans import AssignmentPlan
from annotate.models.preferences import Preferences
from annotate.models.projects import Dimension, MeasurementLevel, Project, ScalePoint
from annotate.models.pushes import Push
from annotate.models.quality import CountingDecision
from annotate.models.ratings import Rating, RatingChange
from annotate.models.results import ComputedResult
from annotate.models.rounds import AssignedUnit, Assignment, Guideline, Round
from annotate.models.templates import SavedTemplate
from annotate.models.tokens import ApiToken, KeptAnswer, token_digest
from annotate.models.webhooks import Delivery, Webhook
from annotate.models.workers import WorkerSign

__all__ = [
    "ApiToken",
    "AssignedUnit",
    "Assignment",
    "AssignmentPlan",
    "AuditEntry",
    "ComputedResult",
    "CountingDecision",
    "DataImport",
    "Delivery",
    "Dimension",
    "Dispute",
    "DisputeDigest",
    "DisputeEvent",
    "DisputeLook",
    "Document",
    "Export",
    "GoldItem",
    "GoldValue",
    "Guideline",
    "GuidelineImage",
    "Invitation",
    "Item",
    "KeptAnswer",
    "MeasurementLevel",
    "Membership",
    "Nudge",
    "Post",
    "PracticeAnswer",
    "Preferences",
    "PrivateNote",
    "Project",
    "ProjectDeletion",
    "Push",
    "Rating",
    "RatingChange",
    "Role",
    "Round",
    "SavedTemplate",
    "ScalePoint",
    "System",
    "User",
    "Webhook",
    "WorkerSign",
    "text_digest",
    "token_digest",
]
