"""Which units settled what is trusted of a judge: their ratings report on no policy or certificate of it."""

from collections.abc import Sequence

from django.db.models import Q

from annotate.queries.assigned import Unit
from judges.models import Calibration, CalibrationUnit, Judge, RoutingPolicy


def settling_units(judges: Sequence[Judge]) -> set[Unit]:
    """Return the units whose ratings settled a routed policy or a certificate of these judges. One query."""
    policies = RoutingPolicy.objects.filter(status=RoutingPolicy.Status.ROUTED)
    calibrations = Calibration.objects.filter(status=Calibration.Status.CERTIFIED)
    units = CalibrationUnit.objects.filter(
        Q(policy__in=policies.filter(Q(rts__in=judges) | Q(mcq__in=judges)))
        | Q(calibration__in=calibrations.filter(judge__in=judges))
    )
    return set(units.values_list("item", "dimension"))
