"""What a person must learn that went wrong with judges."""

from annotate.core.errors import DomainError


class KeyMissingError(DomainError):
    """The environment variable with an endpoint's key is not set."""

    code = "key_missing"


class ProviderPackageMissingError(KeyMissingError):
    """The package of an endpoint's provider is not installed; it stops runs as a missing key does."""

    code = "package_missing"


class RunRefusedError(DomainError):
    """A run cannot be planned or started as asked."""

    code = "run_refused"


class RunStateError(DomainError):
    """A run is not in the state that a step needs."""

    code = "run_state"
    status = 409


class UsedError(DomainError):
    """What judgments were asked with can no longer be changed."""

    code = "used"
    status = 409


class JudgmentStandsError(DomainError):
    """A judgment cannot be corrected as it is."""

    code = "judgment_stands"
    status = 409


class NoJudgesError(DomainError):
    """There are no judges with values for what was asked."""

    code = "no_judges"


class NoMetricsError(DomainError):
    """There are no metrics for what was asked."""

    code = "no_metrics"


class MetricRefusedError(DomainError):
    """A metric cannot be computed as asked."""

    code = "metric_refused"


class RoutingRefusedError(DomainError):
    """Units cannot be routed, or taken back, as asked."""

    code = "routing_refused"
    status = 409


class RoutingChangedError(DomainError):
    """What would be routed is no longer what was shown."""

    code = "routing_changed"
    status = 409


class CalibrationRefusedError(DomainError):
    """A sample cannot be drawn, or certificates computed, as asked."""

    code = "calibration_refused"
    status = 409


class CalibrationChangedError(DomainError):
    """What would be drawn is no longer what was shown."""

    code = "calibration_changed"
    status = 409
