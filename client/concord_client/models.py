"""Rows and answers of the API, made by `make openapi` from its description."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class AnswerReceipt(TypedDict):
    revision: int
    assignment_complete: bool


class AuditRow(TypedDict):
    id: int
    at: datetime
    actor: str | None
    actor_name: NotRequired[str]
    act: str
    subject: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    note: NotRequired[str]


class AuditRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[AuditRow]


class BarInput(TypedDict):
    practice_bar: NotRequired[int | None]


BlankEnum: TypeAlias = Literal[""]


class BudgetInput(TypedDict):
    budget: NotRequired[float | str | None]


class BudgetOfStep(TypedDict):
    budget: NotRequired[float | str]


CalibrationInputConfidenceEnum: TypeAlias = Literal["closeness", "steadiness", "largest_probability", "chosen_probability", "error_model"]


CalibrationInputLossEnum: TypeAlias = Literal["another_point", "more_than_one_point", "other_side"]


CalibrationRowConfidenceEnum: TypeAlias = Literal["closeness", "steadiness", "largest_probability", "chosen_probability", "error_model"]


CalibrationRowLossEnum: TypeAlias = Literal["another_point", "more_than_one_point", "other_side"]


CalibrationRowStatusEnum: TypeAlias = Literal["drawn", "certified", "withdrawn"]


CauseEnum: TypeAlias = Literal["rated", "imported", "kept", "changed", "differs", "undone"]


class CertifiedPolicyInput(TypedDict):
    name: NotRequired[str]
    audit_share: NotRequired[float]
    audit_least: NotRequired[int | None]
    raters: NotRequired[int]
    confidence_level: NotRequired[float]


class CertifiedStageRow(TypedDict):
    position: int
    judge: str
    threshold: NotRequired[float | None]
    accepted: int
    errors: int


class ChangedUnits(TypedDict):
    changed: int


class ComparisonsInput(TypedDict):
    size: NotRequired[int]
    per_document: NotRequired[int | None]


ConfidenceLevelEnum: TypeAlias = float


class CreatedComparisons(TypedDict):
    made: int


class DatasheetInput(TypedDict):
    languages: NotRequired[str]
    task_categories: NotRequired[str]
    motivation: NotRequired[str]
    composition: NotRequired[str]
    collection: NotRequired[str]
    preprocessing: NotRequired[str]
    uses: NotRequired[str]
    distribution: NotRequired[str]
    maintenance: NotRequired[str]


class DatasheetRow(TypedDict):
    languages: list[str]
    task_categories: list[str]
    sections: dict[str, str]


class Deadline(TypedDict):
    deadline: NotRequired[date | None]


DealtByEnum: TypeAlias = Literal["documents", "items"]


class Decision(TypedDict):
    value: NotRequired[float | None]
    data: NotRequired[dict[str, Any] | None]
    note: NotRequired[str]
    reason: NotRequired[str]
    leave_open: NotRequired[bool]
    open_again: NotRequired[bool]
    ask_again: NotRequired[bool]


class DecisionInput(TypedDict):
    text: NotRequired[str]
    note: NotRequired[str]


DeliveryRowStatusEnum: TypeAlias = Literal["waiting", "delivered", "failed"]


DimensionInputKindEnum: TypeAlias = Literal["scale", "category", "labels", "parts", "preference", "ranking", "spans", "text"]


DimensionInputMeasurementLevelEnum: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]


DimensionOrderEnum: TypeAlias = Literal["fixed", "drawn"]


class DimensionPlanRow(TypedDict):
    dimension: str
    units: int
    left_out: int
    drawn: int
    rated: int
    needed: int | None
    least: int | None
    reason: str | None
    warning: str


DimensionRowMeasurementLevelEnum: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]


DimensionVerdictRowUseEnum: TypeAlias = Literal["all", "part", "unknown", "refused"]


class DisputeAnswer(TypedDict):
    value: float | None
    data: NotRequired[dict[str, Any] | None]
    comment: NotRequired[str]
    short_reason: NotRequired[str]
    differs: NotRequired[bool]
    revision: int
    seen_status: NotRequired[str]


class DisputeCountsRow(TypedDict):
    total: int
    unresolved: int
    breakdown: str


class DisputePart(TypedDict):
    label: str
    text: str


DisputeRowStatusEnum: TypeAlias = Literal["open", "settled", "adjudicated", "left_open", "irresolvable"]


class DisputeSide(TypedDict):
    number: int
    part: int
    text: str


class DocumentPartsInput(TypedDict):
    teach: int
    select: int


class DocumentPartsRow(TypedDict):
    teach: int
    select: int
    held_out: int
    documents: int
    most: int
    advised: int
    in_use: str


class DocumentUnitsInput(TypedDict):
    document: str
    units: list[Any]


DraftEnum: TypeAlias = Literal["clarification", "wording"]


class DraftingInput(TypedDict):
    draft: NotRequired[DraftEnum]
    dimension: str
    judge: NotRequired[int]
    count: NotRequired[int]
    drafter: NotRequired[int]
    budget: NotRequired[float | str | None]


DraftingRowStatusEnum: TypeAlias = Literal["planned", "waiting", "asking", "finished", "stopped"]


class DrawPlanRow(TypedDict):
    dimensions: list[DimensionPlanRow]
    size: int
    fitting: int
    units: int
    items: int
    ratings: int
    seconds: float | None
    warnings: list[str]
    refusal: str
    digest: str


EndpointInputDialectEnum: TypeAlias = Literal["openai", "anthropic", "gemini"]


EndpointRowDialectEnum: TypeAlias = Literal["openai", "anthropic", "gemini"]


class ErrorAnswer(TypedDict):
    code: str
    message: str
    fields: dict[str, str]


EventRowKindEnum: TypeAlias = Literal["opened", "settled", "reopened", "adjudicated", "left_open", "resumed", "asked_again", "irresolvable", "taken_up"]


class ExamplesInput(TypedDict):
    dimension: str
    judge: NotRequired[int]
    count: NotRequired[int]
    nearest: NotRequired[bool]


class ExcludedShape(TypedDict):
    excluded: int


ExportRowStatusEnum: TypeAlias = Literal["waiting", "writing", "ready", "stopped"]


class FactorRow(TypedDict):
    key: str
    levels: list[str]


FormatEnum: TypeAlias = Literal["jsonl", "csv", "parquet", "xlsx", "huggingface", "paper", "preferences"]


GoldRowUseEnum: TypeAlias = Literal["practice", "hidden"]


GroundEnum: TypeAlias = Literal["drift", "audit", "alpha", "errors", "certificate", "certified constant", "unrated", "replacement", "single texts", "indicator", "nothing"]


class HandOverInput(TypedDict):
    to: str


class HandedOverRow(TypedDict):
    given: int
    freed: int
    begun: int


ImportRowStatusEnum: TypeAlias = Literal["uploaded", "waiting", "checking", "writing", "imported", "refused", "stopped", "undone"]


class ImportedParts(TypedDict):
    outputs: int


class ItemInput(TypedDict):
    document: str
    system: str
    text: str


ItemRowKindEnum: TypeAlias = Literal["output", "pair", "comparison"]


class ItemsInput(TypedDict):
    items: list[ItemInput]


class JoinInput(TypedDict):
    member: str


JudgeInputCallOrderEnum: TypeAlias = Literal["fixed", "rotated"]


JudgeInputScoreFromEnum: TypeAlias = Literal["text", "probabilities"]


JudgeRowCallOrderEnum: TypeAlias = Literal["fixed", "rotated"]


JudgeRowScoreFromEnum: TypeAlias = Literal["text", "probabilities"]


class JudgeToAskRow(TypedDict):
    judge: str
    units: int


JudgeUseRowUseEnum: TypeAlias = Literal["rank systems", "score single texts", "means after correction of bias"]


class JudgmentInput(TypedDict):
    judge: NotRequired[str]
    model: NotRequired[str]
    method: str
    document: str
    system: str
    other: NotRequired[str]
    dimension: str
    sample: NotRequired[int]
    reply: NotRequired[str]
    value: NotRequired[float]
    rationale: NotRequired[str]
    input_tokens: NotRequired[int]
    output_tokens: NotRequired[int]
    cost: NotRequired[float]
    seconds: NotRequired[float]


JudgmentRowStatusEnum: TypeAlias = Literal["planned", "leased", "done", "unreadable", "failed", "excluded"]


class JudgmentsInput(TypedDict):
    judgments: list[JudgmentInput]


class JudgmentsMade(TypedDict):
    made: dict[str, int]
    already_there: dict[str, int]


class KeyInput(TypedDict):
    key: str


class KeyRow(TypedDict):
    server: str
    ends_with: str
    entered_at: datetime
    entered_by: str | None
    is_used: bool


class LabelInput(TypedDict):
    label: str


class LoadRow(TypedDict):
    done: int
    begun: int
    waiting: int


class MadeRows(TypedDict):
    documents: int
    systems: int
    items: int


MarkInputUseEnum: TypeAlias = Literal["practice", "hidden"]


MaxTokensNameEnum: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


class Me(TypedDict):
    email: str
    name: NotRequired[str]
    scopes: list[str]
    expires_at: datetime


class MembershipInput(TypedDict):
    active: bool


MethodEnum: TypeAlias = Literal["analyse_rate", "classes", "content_units", "direct", "facts_share", "facts_any", "g_eval", "h2h", "mcq", "mcq_reversed", "op", "op_i", "pairwise", "questions", "rate_explain", "recipe", "rts", "several", "stars", "summequal"]


class ModelPriceInput(TypedDict):
    model: str
    input_price: NotRequired[float | str | None]
    output_price: NotRequired[float | str | None]
    cached_price: NotRequired[float | str | None]
    batch_share: NotRequired[float | str | None]
    as_of: NotRequired[date | None]


class ModelPriceShape(TypedDict):
    id: int | None
    model: str
    input_price: str | None
    output_price: str | None
    cached_price: str | None
    batch_share: str
    currency: str
    as_of: date | None
    origin: str


class NewPost(TypedDict):
    text: NotRequired[str]


class NewProject(TypedDict):
    name: str
    template: NotRequired[str]


class NewSecret(TypedDict):
    id: int
    url: str
    events: list[str]
    created_at: NotRequired[datetime]
    failing_since: NotRequired[datetime | None]
    disabled_at: NotRequired[datetime | None]
    disabled_because: NotRequired[str]
    secret: str


class NudgeInput(TypedDict):
    dimension: NotRequired[str]
    rater: NotRequired[str]
    silent: NotRequired[int]


class NudgedMembership(TypedDict):
    id: int
    label: str


class NudgedRow(TypedDict):
    now: list[NudgedMembership]
    already: list[NudgedMembership]
    empty: list[NudgedMembership]
    mailed: bool


class OwnRuleInput(TypedDict):
    dimension: str
    threshold: NotRequired[float | None]
    tolerance: NotRequired[float | None]


class PageRow(TypedDict):
    name: str
    title: str
    says: str
    parameters: list[str]


PairsEnum: TypeAlias = Literal["all", "neighbours", "chosen"]


class PanelDimensionRow(TypedDict):
    dimension: str
    values: int
    mean_spread: float | None
    weights: NotRequired[list[float] | None]
    intercept: NotRequired[float | None]
    problem: str


PanelInputRuleEnum: TypeAlias = Literal["mean", "median", "majority", "weights"]


PanelRowRuleEnum: TypeAlias = Literal["mean", "median", "majority", "weights"]


class Part(TypedDict):
    label: str
    text: str


class PartInput(TypedDict):
    label: str
    text: str


class PartRow(TypedDict):
    units: int
    rated: int
    wrong: int
    expected_wrong: float
    of_dimension: int
    without_forecast: int


class PartsOfOutput(TypedDict):
    document: str
    system: str
    parts: list[str]


class PassageInput(TypedDict):
    part: int
    start: int
    end: int


class PassageRow(TypedDict):
    part: int
    start: int
    end: int


PlanEnum: TypeAlias = Literal["n_of_m", "everyone", "balanced", "sharing", "listed", "imported", "gold", "repeat", "disputes", "routed"]


PlanInputKindEnum: TypeAlias = Literal["queue", "everyone", "balanced", "sharing"]


PlanRowKindEnum: TypeAlias = Literal["queue", "everyone", "balanced", "sharing", "listed"]


class PlanShape(TypedDict):
    judgments: int
    there: int
    calls: int
    cost: str | None
    currency: str
    problems: list[str]


class PointInput(TypedDict):
    value: int
    label: NotRequired[str]
    description: NotRequired[str]


class PointRow(TypedDict):
    value: int
    label: NotRequired[str]
    description: NotRequired[str]


PolicyInputAuditEnum: TypeAlias = Literal["random", "active"]


PolicyInputCoefficientEnum: TypeAlias = Literal["spearman", "pearson", "kendall_tau_b"]


PolicyInputDecidedByEnum: TypeAlias = Literal["lower_bound", "estimate"]


PolicyRowAuditEnum: TypeAlias = Literal["random", "active"]


PolicyRowCoefficientEnum: TypeAlias = Literal["spearman", "pearson", "kendall_tau_b"]


PolicyRowDecidedByEnum: TypeAlias = Literal["lower_bound", "estimate"]


PolicyRowRuleEnum: TypeAlias = Literal["indicator", "certificate"]


PolicyRowStatusEnum: TypeAlias = Literal["draft", "routed", "withdrawn"]


class PostRow(TypedDict):
    rater: str
    at: datetime
    text: str


class PracticeBar(TypedDict):
    practice_bar: int | None


ProblemEnum: TypeAlias = Literal["refused", "filtered", "truncated", "too_long", "rejected"]


class ProjectRow(TypedDict):
    slug: str
    name: str
    description: NotRequired[str]
    guidelines: NotRequired[str]
    raters_per_item: NotRequired[int]
    dispute_threshold: NotRequired[int]
    tolerance: NotRequired[int]
    reservation_minutes: NotRequired[int]
    created_at: datetime
    roles: list[str]


class ProjectRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[ProjectRow]


class PromptChangeInput(TypedDict):
    text: str
    pattern: NotRequired[str]
    wordings: NotRequired[dict[str, str]]


class PromptInput(TypedDict):
    text: str
    pattern: NotRequired[str]
    wordings: NotRequired[dict[str, str]]
    method: MethodEnum
    name: str


class PromptRow(TypedDict):
    id: int
    method: str
    name: str
    version: int
    text: str
    wordings: dict[str, str]
    pattern: NotRequired[str]
    created_at: datetime


class PromptRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[PromptRow]


PromptSearchRowStatusEnum: TypeAlias = Literal["planned", "running", "stopped", "cancelled", "finished"]


ProposalKind: TypeAlias = Literal["examples", "clarification", "wording"]


ProposalRowStatusEnum: TypeAlias = Literal["drafting", "failed", "proposed", "accepted", "dismissed", "tried"]


class ProposalText(TypedDict):
    text: str


class PushInput(TypedDict):
    private: NotRequired[bool]
    repository: str


PushRowStatusEnum: TypeAlias = Literal["waiting", "pushing", "pushed", "stopped"]


class RaterRow(TypedDict):
    rater: str
    active: NotRequired[bool]
    counted: NotRequired[bool]


class RaterRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[RaterRow]


class RatingInput(TypedDict):
    document: str
    system: str
    rater: str
    dimension: str
    value: float


class RatingRow(TypedDict):
    id: int
    round: int
    document: str
    system: str
    dimension: str
    rater: str
    value: float | None
    data: dict[str, Any] | None
    unsure: NotRequired[bool]
    cannot_rate: NotRequired[bool]
    not_applicable: NotRequired[bool]
    counted: bool
    comment: NotRequired[str]
    evidence: list[PassageRow] | None
    active_seconds: NotRequired[float]
    revision: NotRequired[int]
    guideline_version: NotRequired[int | None]
    created_at: datetime
    updated_at: datetime


class RatingRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[RatingRow]


class RecordedInput(TypedDict):
    ratings: list[RatingInput]


class RecordedRows(TypedDict):
    raters: int
    ratings: int


class RereadingInput(TypedDict):
    judge: NotRequired[int]


RereadingRowStatusEnum: TypeAlias = Literal["waiting", "reading", "previewed", "confirmed", "applying", "applied", "stopped"]


class RightValueInput(TypedDict):
    dimension: str
    value: float
    explanation: NotRequired[str]


class RightValueRow(TypedDict):
    dimension: str
    value: float
    explanation: NotRequired[str]


RoleEnum: TypeAlias = Literal["admin", "annotator", "researcher", "adjudicator"]


class RoleInput(TypedDict):
    role: RoleEnum


RoundRowStatusEnum: TypeAlias = Literal["open", "closed"]


class RuleShape(TypedDict):
    threshold: float
    tolerance: float


RunInputViaEnum: TypeAlias = Literal["calls", "batch"]


RunRowStatusEnum: TypeAlias = Literal["planned", "running", "paused", "stopped", "cancelled", "finished"]


RunRowViaEnum: TypeAlias = Literal["calls", "batch"]


ScalesEnum: TypeAlias = Literal["own", "1-10", "1-100", "1-5-words", "1-5-thirds"]


class SearchCandidateRow(TypedDict):
    judge: int | None
    about: NotRequired[str]
    parts: list[int]
    dropped_after: NotRequired[int | None]
    ranks: NotRequired[Any]


class SearchInput(TypedDict):
    proposals: list[int]
    most_candidates: NotRequired[int]
    rounds: NotRequired[int]
    drafter: NotRequired[int]
    most_calls: NotRequired[int | None]
    budget: NotRequired[float | str | None]


class SectionShape(TypedDict):
    title: str
    says: str
    tables: list[dict[str, Any]]
    anchor: str


class SelectionShape(TypedDict):
    judgments: int
    calls: int
    cost: str | None


class Settings(TypedDict):
    note: NotRequired[str]
    name: NotRequired[str]
    description: NotRequired[str]
    reservation_minutes: NotRequired[int]
    guidelines: NotRequired[str]
    raters_per_item: NotRequired[int]
    dispute_threshold: NotRequired[int]
    tolerance: NotRequired[int]


ShownEnum: TypeAlias = Literal["shown", "shown for these raters", "not shown", "ruled out"]


class ShownIf(TypedDict):
    dimension: str
    values: list[Any]


SplitEnum: TypeAlias = Literal["test", "validation", "train"]


class StageRow(TypedDict):
    judge: str
    other: NotRequired[str | None]


class Standing(TypedDict):
    rater: str
    is_me: bool
    value_before: float | None
    data_before: dict[str, Any] | None
    comment_before: str
    value: float
    data: dict[str, Any] | None
    comment: NotRequired[str]
    short_reason: NotRequired[str]
    differs: bool
    revision: int


StepEnum: TypeAlias = Literal["select", "repeat", "teach", "draft", "held_out"]


class StepInput(TypedDict):
    shown: str


class SubmissionAnswer(TypedDict):
    system: str
    outputs: int
    message: str


class SubmissionInput(TypedDict):
    system: str
    contact: str
    note: NotRequired[str]
    outputs: dict[str, str]


class SystemRow(TypedDict):
    system: str


class SystemRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[SystemRow]


class TakenItems(TypedDict):
    taken: int


class TemplateRow(TypedDict):
    key: str
    name: str
    saved_at: NotRequired[datetime | None]


class ThresholdStepRow(TypedDict):
    threshold: float
    kept: int
    expected_wrong: float
    expected_share: float | None
    without_forecast: int
    ratings_saved: int
    refusal: str | None


class TrialInput(TypedDict):
    model: NotRequired[str]
    message: NotRequired[str]


class TrialRow(TypedDict):
    text: str
    problem: str
    seconds: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost: str | None


class UnitsInput(TypedDict):
    documents: list[DocumentUnitsInput]


class UnitsRow(TypedDict):
    document: str
    units: list[dict[str, Any]]


class VariantRow(TypedDict):
    id: int
    name: str


class VersionInput(TypedDict):
    changelog: str


VersionRequestRowStatusEnum: TypeAlias = Literal["waiting", "making", "ready", "stopped"]


class VersionRow(TypedDict):
    number: str
    changelog: NotRequired[str]
    additions: list[int]
    content_hash: str
    leaderboard: dict[str, Any]
    export: NotRequired[int | None]
    created_at: datetime


class VersionRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[VersionRow]


class WebhookInput(TypedDict):
    url: str
    events: list[str]


class WebhookRow(TypedDict):
    id: int
    url: str
    events: list[str]
    created_at: NotRequired[datetime]
    failing_since: NotRequired[datetime | None]
    disabled_at: NotRequired[datetime | None]
    disabled_because: NotRequired[str]


class WebhookRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[WebhookRow]


WhichEnum: TypeAlias = Literal["answered", "unreadable", "far"]


WorkOrderEnum: TypeAlias = Literal["by_document", "mixed"]


class WorkPart(TypedDict):
    label: str
    text: str


class WorkRow(TypedDict):
    position: NotRequired[int | None]
    started_at: NotRequired[datetime | None]
    completed_at: NotRequired[datetime | None]
    reserved_until: NotRequired[datetime | None]


class WorkRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[WorkRow]


class WorkSide(TypedDict):
    number: int
    part: int
    text: str


class WouldOpen(TypedDict):
    threshold: float
    disputes: int


class AdviceRow(TypedDict):
    dimension: str
    threshold: float | None
    says: str
    steps: list[ThresholdStepRow]


class AnswerInput(TypedDict):
    value: NotRequired[float | None]
    data: NotRequired[dict[str, Any] | None]
    unsure: NotRequired[bool]
    cannot_rate: NotRequired[bool]
    not_applicable: NotRequired[bool]
    comment: NotRequired[str]
    evidence: NotRequired[list[PassageInput]]
    seconds: NotRequired[float]
    revision: NotRequired[int]


class AssignmentRow(TypedDict):
    id: int
    round: int
    document: str
    system: str
    place: int
    rater: NotRequired[str | None]
    plan: PlanEnum
    origin: NotRequired[str]
    seed: int
    inclusion_probability: NotRequired[float | None]
    units: list[str] | None
    started_at: NotRequired[datetime | None]
    completed_at: NotRequired[datetime | None]


class AssignmentRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[AssignmentRow]


class CalibrationInput(TypedDict):
    shown: NotRequired[str]
    judge: NotRequired[int]
    confidence: NotRequired[CalibrationInputConfidenceEnum]
    other: NotRequired[int]
    dimensions: NotRequired[list[str]]
    loss: NotRequired[CalibrationInputLossEnum]
    cut: NotRequired[float | None]
    risk: NotRequired[float]
    significance_level: NotRequired[float]
    expected_error: NotRequired[float | None]
    accepted_share: NotRequired[float]
    size: NotRequired[int | None]
    raters: NotRequired[int]
    name: NotRequired[str]
    judge_2: NotRequired[int]
    other_2: NotRequired[int]
    judge_3: NotRequired[int]
    other_3: NotRequired[int]


class CalibrationRow(TypedDict):
    id: int
    name: str
    judge: str
    other: NotRequired[str | None]
    loss: CalibrationRowLossEnum
    cut: NotRequired[float | None]
    risk: float
    significance_level: float
    confidence: CalibrationRowConfidenceEnum
    raters: int
    size: int
    fitting: NotRequired[int]
    seed: int
    status: NotRequired[CalibrationRowStatusEnum]
    drawn_at: datetime
    ended_at: NotRequired[datetime | None]


class CalibrationRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[CalibrationRow]


class CertificateRow(TypedDict):
    kept_share: float
    steps: list[dict[str, Any]]
    controls: dict[str, dict[str, Any]]
    error_model: dict[str, Any] | None
    stages: list[CertifiedStageRow]
    significance_level: float
    threshold: NotRequired[float | None]
    reason: NotRequired[str]
    units: int
    kept: NotRequired[int]
    rated: int
    missing: int
    accepted: NotRequired[int | None]
    errors: NotRequired[int | None]
    upper_bound: NotRequired[float | None]
    risk_of_unrated: NotRequired[float | None]
    more_ratings: NotRequired[int | None]
    more_reason: NotRequired[str]
    ceiling: NotRequired[float | None]
    ceiling_units: int
    ceiling_reason: NotRequired[str]


class CertifiedDimensionRow(TypedDict):
    dimension: str
    drawn: int
    rated: int
    lapses: list[str]
    certificate: CertificateRow | None
    valid: bool
    known_errors: NotRequired[int | None]
    says: str
    warnings: list[str]


class ChangeRow(TypedDict):
    rating: int
    revision: int
    at: datetime
    cause: CauseEnum
    value_before: float | None
    value_after: float | None
    unsure: NotRequired[bool]
    cannot_rate: NotRequired[bool]
    not_applicable: NotRequired[bool]
    comment: NotRequired[str]
    evidence: list[PassageRow] | None
    guideline_version: NotRequired[int | None]
    data: dict[str, Any] | None


class ChangeRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[ChangeRow]


class DeliveryRow(TypedDict):
    id: int
    key: NotRequired[str]
    event: str
    body: str
    created_at: NotRequired[datetime]
    status: NotRequired[DeliveryRowStatusEnum]
    attempts: NotRequired[int]
    attempted_at: NotRequired[datetime | None]
    due_at: NotRequired[datetime | None]
    answer_status: NotRequired[int | None]
    answer: NotRequired[str]


class DeliveryRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[DeliveryRow]


class DimensionInput(TypedDict):
    kind: NotRequired[DimensionInputKindEnum]
    options: NotRequired[dict[str, Any] | None]
    shown_if: NotRequired[ShownIf | None]
    points: NotRequired[list[PointInput]]
    note: NotRequired[str]
    name: str
    definition: str
    scale_minimum: NotRequired[int]
    scale_maximum: NotRequired[int]
    scale_step: NotRequired[float | None]
    measurement_level: NotRequired[DimensionInputMeasurementLevelEnum]
    not_applicable: NotRequired[bool]
    guidelines: NotRequired[str]


class DimensionRow(TypedDict):
    key: str
    name: str
    position: int
    definition: NotRequired[str]
    guidelines: NotRequired[str]
    scale_minimum: NotRequired[int]
    scale_maximum: NotRequired[int]
    scale_step: float
    measurement_level: NotRequired[DimensionRowMeasurementLevelEnum]
    not_applicable: NotRequired[bool]
    dispute_threshold: float | None
    tolerance: float | None
    points: list[PointRow]
    kind: NotRequired[str]
    options: dict[str, Any] | None
    shown_if: dict[str, Any] | None


class DimensionRule(TypedDict):
    dimension: str
    threshold: float | None
    tolerance: float | None
    in_force: RuleShape
    is_named: bool
    would_open: list[WouldOpen] | None


class DimensionsInput(TypedDict):
    dimensions: list[DimensionInput]


class DisputeRow(TypedDict):
    number: int
    dimension: str
    document: str | None
    system: str | None
    status: NotRequired[DisputeRowStatusEnum]
    spread: float
    threshold: float
    tolerance: float
    adjudicated_value: float | None
    adjudicated_data: dict[str, Any] | None
    updated_at: datetime
    waits_for: list[str] | None


class DisputeRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[DisputeRow]


class DisputeRules(TypedDict):
    threshold: int
    tolerance: int
    dimensions: list[DimensionRule]
    current: bool


class DisputeRulesInput(TypedDict):
    threshold: NotRequired[int]
    tolerance: NotRequired[int]
    dimensions: NotRequired[list[OwnRuleInput]]


class DocumentInput(TypedDict):
    document: str
    title: NotRequired[str]
    parts: list[PartInput]


class DocumentRow(TypedDict):
    document: str
    title: NotRequired[str]
    parts: list[Part]
    metadata: NotRequired[Any]


class DocumentRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[DocumentRow]


class DocumentsInput(TypedDict):
    documents: list[DocumentInput]


class DraftingRow(TypedDict):
    id: int
    judge: str
    dimension: str
    drafter: str
    status: NotRequired[DraftingRowStatusEnum]
    reason: NotRequired[str]
    budget: NotRequired[str | None]
    spent: NotRequired[str]
    created_at: NotRequired[datetime]


class DraftingRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[DraftingRow]


class EndpointInput(TypedDict):
    key: NotRequired[str]
    name: str
    dialect: NotRequired[EndpointInputDialectEnum]
    base_url: NotRequired[str]
    key_variable: NotRequired[str]
    input_price: NotRequired[float | str | None]
    output_price: NotRequired[float | str | None]
    cached_price: NotRequired[float | str | None]
    requests_per_minute: NotRequired[int | None]
    tokens_per_minute: NotRequired[int | None]
    calls_in_flight: NotRequired[int]
    samples_in_one_call: NotRequired[bool]
    timeout_seconds: NotRequired[int]
    patience_minutes: NotRequired[int | None]
    resume_hours: NotRequired[int | None]


class EndpointRow(TypedDict):
    id: int
    name: str
    base_url: str
    dialect: NotRequired[EndpointRowDialectEnum]
    key_variable: NotRequired[str]
    requests_per_minute: NotRequired[int | None]
    tokens_per_minute: NotRequired[int | None]
    input_price: NotRequired[str | None]
    output_price: NotRequired[str | None]
    cached_price: NotRequired[str | None]
    timeout_seconds: NotRequired[int]
    calls_in_flight: NotRequired[int]
    samples_in_one_call: NotRequired[bool]
    patience_minutes: NotRequired[int]
    resume_hours: NotRequired[int]
    has_key: bool
    unanswered_since: NotRequired[datetime | None]
    failure: NotRequired[str]
    archived_at: NotRequired[datetime | None]


class EndpointRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[EndpointRow]


class EventRow(TypedDict):
    at: datetime
    kind: EventRowKindEnum
    value: float | None
    data: dict[str, Any] | None
    note: NotRequired[str]


class ExperimentInput(TypedDict):
    base: int
    prompts: NotRequired[list[str]]
    models: NotRequired[list[str]]
    temperatures: NotRequired[list[float]]
    samples: NotRequired[list[int]]
    scales: NotRequired[list[ScalesEnum]]
    orders: NotRequired[list[str]]
    dimensions: NotRequired[list[str]]
    documents: NotRequired[int]
    budget: NotRequired[float | str]


class ExperimentRow(TypedDict):
    run: int
    factors: list[FactorRow]
    judges: list[VariantRow]


class ExperimentRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[ExperimentRow]


class ExportInput(TypedDict):
    format: NotRequired[FormatEnum]
    parts: NotRequired[list[str]]
    licence: NotRequired[str]
    authors: NotRequired[str]
    address: NotRequired[str]
    text_licences: NotRequired[str]
    split: NotRequired[SplitEnum]


class ExportRow(TypedDict):
    id: int
    format: str
    left_out: list[str]
    licence: NotRequired[str]
    status: NotRequired[ExportRowStatusEnum]
    message: NotRequired[str]
    size: NotRequired[int]
    content_hash: NotRequired[str]
    concord_version: NotRequired[str]
    state_at: NotRequired[datetime | None]
    tables: dict[str, int]
    created_at: datetime


class ExportRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[ExportRow]


class GainRow(TypedDict):
    sent: PartRow
    kept: PartRow


class GoldInput(TypedDict):
    explanation: NotRequired[str]
    values: list[RightValueInput]


class GoldRow(TypedDict):
    id: int
    document: str
    system: str
    use: GoldRowUseEnum
    explanation: NotRequired[str]
    values: list[RightValueRow]


class GoldRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[GoldRow]


class ImportRow(TypedDict):
    id: int
    kind: NotRequired[str]
    name: str
    status: NotRequired[ImportRowStatusEnum]
    created_at: datetime
    undone_at: NotRequired[datetime | None]


class ImportRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[ImportRow]


class Imported(TypedDict):
    made: MadeRows
    already_there: MadeRows


class InvitationRow(TypedDict):
    id: int
    role: RoleEnum
    email: NotRequired[str]
    expires_at: datetime
    sent_at: NotRequired[datetime | None]
    withdrawn_at: NotRequired[datetime | None]


class InvitedRow(TypedDict):
    made: list[InvitationRow]
    members: list[str]
    waiting: list[str]
    unmailed: list[str]


class ItemRow(TypedDict):
    document: str
    system: str
    kind: NotRequired[ItemRowKindEnum]
    text: str
    metadata: NotRequired[Any]


class ItemRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[ItemRow]


class JudgeInput(TypedDict):
    asked_together: NotRequired[list[str]]
    stop: NotRequired[list[str]]
    scale_table: NotRequired[list[float]]
    extra_body: NotRequired[dict[str, Any]]
    name: str
    endpoint: NotRequired[int]
    model: str
    template: NotRequired[str]
    temperature: NotRequired[float | None]
    samples: NotRequired[int]
    max_tokens: NotRequired[int | None]
    max_tokens_name: NotRequired[str]
    score_from: NotRequired[JudgeInputScoreFromEnum]
    structured: NotRequired[bool]
    asks_again: NotRequired[bool]
    top_p: NotRequired[float | None]
    seed: NotRequired[int | None]
    reasoning_effort: NotRequired[str]
    system_message: NotRequired[str]
    scale_minimum: NotRequired[int | None]
    scale_maximum: NotRequired[int | None]
    scale_modifiers: NotRequired[bool]
    scale_thirds: NotRequired[bool]
    call_order: NotRequired[JudgeInputCallOrderEnum]
    reference: NotRequired[str]


class JudgeRow(TypedDict):
    id: int
    name: str
    endpoint: NotRequired[int | None]
    model: str
    method: str
    template: NotRequired[int | None]
    temperature: NotRequired[float | None]
    samples: NotRequired[int]
    max_tokens: NotRequired[int]
    max_tokens_name: NotRequired[MaxTokensNameEnum | BlankEnum]
    score_from: NotRequired[JudgeRowScoreFromEnum]
    structured: NotRequired[bool]
    asks_again: NotRequired[bool]
    top_p: NotRequired[float | None]
    seed: NotRequired[int | None]
    stop: list[str]
    reasoning_effort: NotRequired[str]
    system_message: NotRequired[str]
    extra_body: dict[str, Any]
    scale_minimum: NotRequired[int | None]
    scale_maximum: NotRequired[int | None]
    scale_modifiers: NotRequired[bool]
    scale_thirds: NotRequired[bool]
    scale_table: list[float]
    asked_together: list[str]
    call_order: NotRequired[JudgeRowCallOrderEnum]
    reference: str | None
    created_at: datetime
    archived_at: NotRequired[datetime | None]


class JudgeRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[JudgeRow]


class JudgeUseRow(TypedDict):
    use: JudgeUseRowUseEnum
    shown: ShownEnum
    says: str


class JudgmentRow(TypedDict):
    id: int
    run: NotRequired[int | None]
    judge: str
    dimension: str
    document: str
    system: str
    other_system: NotRequired[str | None]
    sample: NotRequired[int]
    status: NotRequired[JudgmentRowStatusEnum]
    value: float | None
    data: dict[str, Any] | None
    mapped_value: float | None
    rationale: NotRequired[str]
    reply: NotRequired[str]
    reason: NotRequired[str]
    problem: NotRequired[ProblemEnum | BlankEnum]
    prompt: NotRequired[str | None]
    prompt_version: NotRequired[int | None]
    parameters: dict[str, Any]
    messages_hash: NotRequired[str]
    messages: list[dict[str, Any]] | None
    asked_dimensions: list[str]
    steps: NotRequired[Any]
    log_probabilities: dict[str, Any] | None
    finish_reason: NotRequired[str]
    refusal: NotRequired[str]
    returned_model: NotRequired[str]
    system_fingerprint: NotRequired[str]
    input_tokens: NotRequired[int | None]
    output_tokens: NotRequired[int | None]
    cached_tokens: NotRequired[int | None]
    reasoning_tokens: NotRequired[int | None]
    cost: NotRequired[str | None]
    seconds: NotRequired[float | None]
    answered_at: NotRequired[datetime | None]
    is_corrected: NotRequired[bool]
    reused_from: NotRequired[int | None]


class JudgmentRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[JudgmentRow]


class MarkInput(TypedDict):
    document: str
    system: str
    use: NotRequired[MarkInputUseEnum]


class MembershipRow(TypedDict):
    id: int
    role: RoleEnum
    label: str
    email: NotRequired[str | None]
    alias: NotRequired[str]
    pseudonym: NotRequired[str]
    active: NotRequired[bool]
    counted: NotRequired[bool]


class NewInvitation(TypedDict):
    role: NotRequired[RoleEnum]
    email: NotRequired[str]


class NewInvitations(TypedDict):
    addresses: list[str]
    send: NotRequired[bool]
    role: NotRequired[RoleEnum]
    note: NotRequired[str]


class OwnAnswer(TypedDict):
    value: float | None
    data: dict[str, Any] | None
    unsure: NotRequired[bool]
    cannot_rate: NotRequired[bool]
    not_applicable: NotRequired[bool]
    comment: NotRequired[str]
    evidence: list[PassageRow] | None
    revision: NotRequired[int]


class PanelInput(TypedDict):
    name: str
    members: list[int]
    rule: NotRequired[PanelInputRuleEnum]
    development_percent: NotRequired[int | None]


class PanelRow(TypedDict):
    id: int
    name: str
    members: list[str]
    rule: PanelRowRuleEnum
    development_share: NotRequired[float | None]
    computed_at: NotRequired[datetime | None]


class PanelRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[PanelRow]


class PartsInput(TypedDict):
    outputs: list[PartsOfOutput]


class PendingRow(TypedDict):
    invitation: InvitationRow
    link: str


class PersonRow(TypedDict):
    id: int
    role: RoleEnum
    label: str
    email: NotRequired[str | None]
    alias: NotRequired[str]
    pseudonym: NotRequired[str]
    active: NotRequired[bool]
    counted: NotRequired[bool]
    load: LoadRow | None


class PersonRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[PersonRow]


class PlanInput(TypedDict):
    kind: PlanInputKindEnum
    share: NotRequired[int]
    gold_every: NotRequired[int]
    repeat_every: NotRequired[int]
    dealt_by: NotRequired[DealtByEnum]
    work_order: NotRequired[WorkOrderEnum]
    dimension_order: NotRequired[DimensionOrderEnum]


class PlanRow(TypedDict):
    kind: NotRequired[PlanRowKindEnum]
    share: NotRequired[int]
    gold_every: NotRequired[int]
    repeat_every: NotRequired[int]
    dealt_by: NotRequired[DealtByEnum]
    work_order: NotRequired[WorkOrderEnum]
    dimension_order: NotRequired[DimensionOrderEnum]


class PolicyInput(TypedDict):
    thresholds: NotRequired[dict[str, float]]
    name: NotRequired[str]
    rts: NotRequired[int]
    mcq: NotRequired[int]
    budget: NotRequired[int | None]
    threshold: NotRequired[float | None]
    decided_by: NotRequired[PolicyInputDecidedByEnum]
    audit_share: NotRequired[float]
    audit_least: NotRequired[int | None]
    raters: NotRequired[int]
    audit: NotRequired[PolicyInputAuditEnum]
    coefficient: NotRequired[PolicyInputCoefficientEnum]
    confidence_level: NotRequired[ConfidenceLevelEnum]
    risk: NotRequired[float]


class PolicyRow(TypedDict):
    id: int
    name: str
    rule: NotRequired[PolicyRowRuleEnum]
    rts: int
    mcq: NotRequired[int | None]
    thresholds: dict[str, float]
    threshold: NotRequired[float | None]
    decided_by: NotRequired[PolicyRowDecidedByEnum]
    audit_share: NotRequired[float]
    audit_least: NotRequired[int]
    raters: int
    audit: NotRequired[PolicyRowAuditEnum]
    coefficient: NotRequired[PolicyRowCoefficientEnum]
    confidence_level: NotRequired[float]
    risk: NotRequired[float]
    status: NotRequired[PolicyRowStatusEnum]
    created_at: datetime
    routed_at: NotRequired[datetime | None]
    withdrawn_at: NotRequired[datetime | None]


class PolicyRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[PolicyRow]


class PromptSearchRow(TypedDict):
    id: int
    judge: str
    dimension: str
    status: NotRequired[PromptSearchRowStatusEnum]
    reason: NotRequired[str]
    rounds: NotRequired[int]
    round: NotRequired[int]
    step: NotRequired[StepEnum]
    stages: NotRequired[Any]
    stage: NotRequired[int]
    planned_calls: int
    planned_cost: NotRequired[str | None]
    most_calls: NotRequired[int | None]
    budget: NotRequired[str | None]
    run: int | None
    created_at: NotRequired[datetime]


class PromptSearchRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[PromptSearchRow]


class ProposalInput(TypedDict):
    dimension: str
    judge: NotRequired[int]
    kind: NotRequired[ProposalKind]
    text: str


class ProposalRow(TypedDict):
    id: int
    judge: str
    dimension: str
    kind: ProposalKind
    status: NotRequired[ProposalRowStatusEnum]
    text: NotRequired[str]
    about: NotRequired[str]
    units: list[list[str]]
    problem: NotRequired[str]
    drafted_by: NotRequired[str]
    cost: NotRequired[str | None]
    candidate: int | None
    guideline_version: NotRequired[int | None]
    created_at: NotRequired[datetime]
    decided_at: NotRequired[datetime | None]


class ProposalRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[ProposalRow]


class PushRow(TypedDict):
    id: int
    repository: str
    private: NotRequired[bool]
    status: NotRequired[PushRowStatusEnum]
    message: NotRequired[str]
    sent: NotRequired[int]
    size: NotRequired[int]
    url: NotRequired[str]
    created_at: NotRequired[datetime]


class PushRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[PushRow]


class RecordedImport(TypedDict):
    made: RecordedRows
    already_there: RecordedRows
    opens_round_one: bool


class RequestedDimension(TypedDict):
    dimension: str
    name: str
    scale_minimum: int
    scale_maximum: int
    scale_step: float
    kind: str
    options: dict[str, Any] | None
    shown_if: dict[str, Any] | None
    rating: OwnAnswer | None


class RereadingRow(TypedDict):
    id: int
    judge: NotRequired[int | None]
    status: NotRequired[RereadingRowStatusEnum]
    reason: NotRequired[str]
    would_change: NotRequired[int | None]
    first_changes: list[dict[str, Any]]
    changed: NotRequired[int]
    created_at: datetime


class ResultShape(TypedDict):
    name: str
    title: str
    says: str
    parameters: list[str]
    chosen: dict[str, str]
    choices: dict[str, list[dict[str, Any]]]
    current: bool
    computed_at: datetime | None
    problem: str
    answer: str
    warnings: list[str]
    sections: list[SectionShape]


class RoundRow(TypedDict):
    number: int
    status: NotRequired[RoundRowStatusEnum]
    every_item: NotRequired[bool]
    work_order: NotRequired[WorkOrderEnum]
    dimension_order: NotRequired[DimensionOrderEnum]
    deadline: NotRequired[date | None]
    opened_at: datetime
    closed_at: NotRequired[datetime | None]
    guideline_version: int
    guideline: dict[str, Any]
    ratings: int | None
    disputes: DisputeCountsRow | None


class RunInput(TypedDict):
    judges: NotRequired[list[int]]
    dimensions: NotRequired[list[str]]
    pairs: NotRequired[PairsEnum]
    chosen_pairs: NotRequired[list[str]]
    documents: NotRequired[int | None]
    items: NotRequired[str]
    via: NotRequired[RunInputViaEnum]
    budget: NotRequired[float | str | None]
    reuses_answers: NotRequired[bool]
    keeps_messages: NotRequired[bool]


class RunRow(TypedDict):
    id: int
    status: NotRequired[RunRowStatusEnum]
    via: NotRequired[RunRowViaEnum]
    reason: NotRequired[str]
    keeps_messages: NotRequired[bool]
    reuses_answers: NotRequired[bool]
    budget: NotRequired[str | None]
    spent: NotRequired[str]
    reused: NotRequired[int]
    reused_cost: NotRequired[str]
    reused_cost_unknown: NotRequired[int]
    cached_tokens: NotRequired[int | None]
    saved_by_cache: str | None
    saved_by_cache_reason: str
    currency: str
    created_at: datetime
    started_at: NotRequired[datetime | None]
    finished_at: NotRequired[datetime | None]


class RunRowPage(TypedDict):
    next: str | None
    previous: str | None
    results: list[RunRow]


class SelectionInput(TypedDict):
    judgment: NotRequired[int]
    judge: NotRequired[int]
    dimension: NotRequired[str]
    which: NotRequired[WhichEnum]
    shown: NotRequired[int | None]
    note: NotRequired[str]


class VersionRequestRow(TypedDict):
    id: int
    changelog: str
    status: NotRequired[VersionRequestRowStatusEnum]
    message: NotRequired[str]
    created_at: datetime


class WorkItem(TypedDict):
    position: int
    title: str
    parts: list[WorkPart]
    text: str
    sides: list[WorkSide]
    item_parts: list[str]
    dimensions: list[RequestedDimension]
    previous: int | None
    next: int | None


class CalibrationDetail(TypedDict):
    calibration: CalibrationRow
    dimensions: list[CertifiedDimensionRow]
    stages: list[StageRow]
    bound: dict[str, Any]
    can_route: bool
    to_ask: list[JudgeToAskRow]


class DimensionVerdictRow(TypedDict):
    dimension: str
    kept: int
    use: DimensionVerdictRowUseEnum
    ground: GroundEnum
    says: str
    uses: list[JudgeUseRow]
    refusal: str | None


class DisputeDetail(TypedDict):
    number: int
    status: str
    tolerance: float
    adjudicated_value: float | None
    adjudicated_data: dict[str, Any] | None
    dimension: str
    title: str
    parts: list[DisputePart]
    text: str
    sides: list[DisputeSide]
    takes_answers: bool
    standpoints: list[Standing]
    thread: list[PostRow]
    history: list[EventRow]


class DraftingDetail(TypedDict):
    drafting: DraftingRow
    total: int
    done: int
    failed: int
    calls_left: int
    cost_left: str | None
    proposals: list[int]


class PanelDetail(TypedDict):
    panel: PanelRow
    dimensions: list[PanelDimensionRow]
    development_documents: list[str]


class PolicyDetail(TypedDict):
    policy: PolicyRow
    all_units: int
    sent: int
    audited: int
    kept: int
    audited_share: float | None
    ratings: int
    gain: GainRow | None
    advice: list[AdviceRow]
    warnings: list[str]
    verdicts: list[DimensionVerdictRow]
    counts: dict[str, int]
    refusal: str
    digest: str
    to_ask: list[JudgeToAskRow]


class PromptSearchDetail(TypedDict):
    search: PromptSearchRow
    progress: str
    spent: str
    chosen: NotRequired[int | None]
    candidates: list[SearchCandidateRow]


class RunDetail(TypedDict):
    run: RunRow
    total: int
    done: int
    unreadable: int
    failed: int
    excluded: int
    in_flight: int
    planned: int
    per_second: float
    seconds_left: float | None
