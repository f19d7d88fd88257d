"""Errors of judges that users see."""

from annotate.core.errors import DomainError, InvalidValueError


def invalid_field(field: str, message: str) -> InvalidValueError:
    return InvalidValueError(message, fields={field: message})


class KeyMissingError(DomainError):
    """The environment variable with an endpoint's key is not set."""

    code = "key_missing"


class ProviderPackageMissingError(KeyMissingError):
    """The package of an endpoint's provider is not installed. Like a missing key, it stops runs."""

    code = "package_missing"


class RunRefusedError(DomainError):
    """The run cannot be planned or started with these settings."""

    code = "run_refused"


class RunStateError(DomainError):
    code = "run_state"
    status = 409


class InUseError(DomainError):
    """The object can no longer be changed because judgments used it."""

    code = "used"
    status = 409


class JudgmentStandsError(DomainError):
    """The judgment cannot be corrected in its present state."""

    code = "judgment_stands"
    status = 409


class NoJudgesError(DomainError):
    code = "no_judges"


class NoMetricsError(DomainError):
    code = "no_metrics"


class MetricRefusedError(DomainError):
    """The metric cannot be computed with these settings."""

    code = "metric_refused"


class RoutingRefusedError(DomainError):
    """Units cannot be routed, or a routing undone, with these settings."""

    code = "routing_refused"
    status = 409


class RoutingChangedError(DomainError):
    """The units to route changed after the preview."""

    code = "routing_changed"
    status = 409


class CalibrationRefusedError(DomainError):
    """The sample cannot be created, or certificates computed, with these settings."""

    code = "calibration_refused"
    status = 409


class CalibrationChangedError(DomainError):
    """The sample changed after the preview."""

    code = "calibration_changed"
    status = 409
