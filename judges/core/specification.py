"""Specifications of endpoints, judges, runs and policies, which forms validate and commands receive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from agreement.reliability import LEAST_RATINGS
from annotate.core.models import System
from judges.core.models import (
    Calibration,
    CallOrder,
    Endpoint,
    Judge,
    PromptTemplate,
    RoutingPolicy,
    ScoreFrom,
)


@dataclass(frozen=True)
class ModelPriceSpec:
    """The price of a million tokens of a model; None: unknown."""

    model: str
    input_price: Decimal | None
    output_price: Decimal | None
    cached_price: Decimal | None
    batch_share: Decimal | None
    as_of: date


@dataclass(frozen=True)
class EndpointSpec:
    """All settings of an endpoint but its key; `key_variable` is the name of an environment variable."""

    name: str
    base_url: str
    dialect: str = Endpoint.Dialect.OPENAI
    key_variable: str = ""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    input_price: Decimal | None = None
    output_price: Decimal | None = None
    cached_price: Decimal | None = None
    timeout_seconds: int = 60
    calls_in_flight: int = 16
    samples_in_one_call: bool = False
    patience_minutes: int = 15
    resume_hours: int = 24


@dataclass(frozen=True)
class JudgeSpec:
    """All settings of a judge; `judges.core.judge_settings` documents each.

    `template` is a version of a prompt, or the key of a shipped prompt (`judges.endpoints.queries`).
    """

    name: str
    endpoint: Endpoint
    model: str
    # A shipped prompt becomes a version of the project when its first judge is saved.
    template: PromptTemplate | str
    temperature: float | None = 0  # None: not sent
    samples: int = 1
    max_tokens: int | None = None  # required by the method
    max_tokens_name: str = ""  # found out before the first run
    score_from: ScoreFrom = ScoreFrom.TEXT
    structured: bool = False
    asks_again: bool = False
    top_p: float | None = None
    seed: int | None = None
    stop: Sequence[str] = field(default_factory=list)
    reasoning_effort: str = ""
    system_message: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    scale_minimum: int | None = None  # of a judge's own scale
    scale_maximum: int | None = None
    scale_modifiers: bool = False
    scale_thirds: bool = False
    scale_table: Sequence[float] = field(default_factory=list)
    # Keys of dimensions in the order of the prompt; empty: all.
    asked_together: Sequence[str] = field(default_factory=list)
    call_order: CallOrder = CallOrder.FIXED
    reference: System | None = None  # for prompts with {{ reference }}


@dataclass(frozen=True)
class Scope:
    """The scope of a run: the judges, the dimensions (keys), and for head-to-head the pairs of systems.

    documents: the number of documents to sample; None for all. chosen: the ids of specific documents, instead
    of a sample. items: the ids of specific items; a comparison needs both of its items. units: by dimension
    id, the items to judge on it, for judges that score one output.
    """

    judges: Sequence[Judge]
    dimensions: Sequence[str]
    pairs: Sequence[tuple[int, int]] = ()
    documents: int | None = None
    chosen: Sequence[int] | None = None
    items: Sequence[int] | None = None
    units: Mapping[int, Sequence[int]] | None = None


CONFIDENCE_LEVELS = (0.95, 0.9, 0.99)
"""Of intervals about judges, the usual one first."""


@dataclass(frozen=True)
class PolicySpec:
    """All settings of a routing policy; see `RoutingPolicy`.

    `thresholds`: an r by dimension key if it differs from `threshold`. `raters`: the number of raters per
    unit. By certificates there is a `calibration` and no threshold, and no `mcq` if it has no second judge.
    """

    name: str
    rts: Judge
    mcq: Judge | None
    threshold: float | None
    raters: int
    thresholds: Mapping[str, float] = field(default_factory=dict)
    coefficient: str = RoutingPolicy.Coefficient.SPEARMAN
    decided_by: str = RoutingPolicy.DecidedBy.LOWER_BOUND
    confidence_level: float = 0.95
    audit: str = RoutingPolicy.Audit.RANDOM
    rule: str = RoutingPolicy.Rule.INDICATOR
    calibration: Calibration | None = None
    audit_share: float = 0.05
    audit_least: int = LEAST_RATINGS
    risk: float = 0.2


def policy_from_certificates(
    calibration: Calibration,
    *,
    name: str,
    raters: int,
    audit_share: float = 0.05,
    audit_least: int = LEAST_RATINGS,
    confidence_level: float = 0.95,
) -> PolicySpec:
    return PolicySpec(
        name=name,
        rts=calibration.judge,
        mcq=calibration.other,
        threshold=None,
        raters=raters,
        confidence_level=confidence_level,
        audit_share=audit_share,
        audit_least=audit_least,
        # The audit tests the promise of the certificates, so both have the same limit.
        risk=calibration.risk,
        rule=RoutingPolicy.Rule.CERTIFICATE,
        calibration=calibration,
    )


@dataclass(frozen=True)
class CalibrationSpec:
    """All settings of a calibration; see `Calibration`.

    other: the MCQ judge to compare the judge with, if the confidence needs one. dimensions: keys. stages: the
    next judges for the undecided units, each with a judge to compare it with or None. size: units of each
    dimension that calibrate; None uses the size that the plan needs. expected_error: None supposes half the
    risk.
    """

    name: str
    judge: Judge
    dimensions: Sequence[str]
    raters: int
    other: Judge | None = None
    loss: str = Calibration.Loss.MORE_THAN_ONE_POINT
    cut: float | None = None
    risk: float = 0.2
    significance_level: float = 0.1
    confidence: str = Calibration.Confidence.CLOSENESS
    expected_error: float | None = None
    accepted_share: float = 0.5
    size: int | None = None
    stages: Sequence[tuple[Judge, Judge | None]] = ()
