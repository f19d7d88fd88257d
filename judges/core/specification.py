"""What an admin says about an endpoint, judge, run or policy, checked by a form and taken by a command."""

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
    """What a million tokens of a model cost; None: unknown."""

    model: str
    input_price: Decimal | None
    output_price: Decimal | None
    cached_price: Decimal | None
    batch_share: Decimal | None
    as_of: date


@dataclass(frozen=True)
class EndpointSpec:
    """Everything about an endpoint but its key; `key_variable` is the name of an environment variable."""

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
    """Everything about a judge; `judges.core.judge_settings` says what each setting is.

    `template` is a version of a prompt, or the key of a text as shipped (`judges.endpoints.shipped`).
    """

    name: str
    endpoint: Endpoint
    model: str
    template: PromptTemplate | str
    temperature: float | None = 0  # None: not sent
    samples: int = 1
    max_tokens: int | None = None  # what the method needs
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
    scale_minimum: int | None = None  # of a scale of its own
    scale_maximum: int | None = None
    scale_modifiers: bool = False
    scale_thirds: bool = False
    scale_table: Sequence[float] = field(default_factory=list)
    asked_together: Sequence[str] = field(
        default_factory=list
    )  # keys of dimensions in the order of the prompt; empty: all
    call_order: CallOrder = CallOrder.FIXED
    reference: System | None = None  # for prompts with {{ reference }}


@dataclass(frozen=True)
class Scope:
    """What is to be judged: by whom, on which dimensions (keys), for head-to-head which pairs of systems.

    documents: how many documents are drawn; all where None. chosen: the ids of
    just these, in place of a draw. items: the ids of just these items, of both texts where two are compared.
    units: by dimension id, the items that are asked about on it, of judges that score one text.
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
    """Everything that an admin says about a routing policy; see `RoutingPolicy`.

    `thresholds`: an r by dimension key where it is not `threshold`. `raters`: how many people rate a unit.
    By certificates there is a `calibration` and no threshold, and no `mcq` where it has no second judge.
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


def by_certificates(
    calibration: Calibration,
    *,
    name: str,
    raters: int,
    audit_share: float = 0.05,
    audit_least: int = LEAST_RATINGS,
    confidence_level: float = 0.95,
) -> PolicySpec:
    """Return the policy that follows a calibration's certificates."""
    return PolicySpec(
        name=name,
        rts=calibration.judge,
        mcq=calibration.other,
        threshold=None,
        raters=raters,
        confidence_level=confidence_level,
        audit_share=audit_share,
        audit_least=audit_least,
        risk=calibration.risk,
        rule=RoutingPolicy.Rule.CERTIFICATE,
        calibration=calibration,
    )


@dataclass(frozen=True)
class CalibrationSpec:
    """Everything that an admin says about a calibration; see `Calibration`.

    other: the MCQ judge that the judge is held against, where the confidence needs one. dimensions: keys.
    stages: the judges that are asked next about what it does not decide, each with a judge to compare it
    with or None.
    size: units of each dimension that calibrate; None takes what the plan needs. expected_error: None
    supposes half the risk.
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
