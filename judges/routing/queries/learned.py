"""Validity of certificates in the other project that learned them."""

from django.utils.translation import gettext

from judges.core.access import OF_JUDGES
from judges.core.models import Calibration, RoutingPolicy
from judges.core.stages import stages_of
from judges.routing.queries.learn_certificates import look_at
from judges.routing.queries.state import routing_state
from judges.runs.queries.drift import alarms_of


def refusal_where_learned(calibration: Calibration) -> str:
    """Return the reason why certificates are no longer valid in the project that learned them; empty if
    valid.

    They lapsed there, a judge has changed, or an audit there contradicts them. Up to 42 queries.
    """
    calibration = Calibration.objects.select_related("project", *OF_JUDGES).get(pk=calibration.pk)
    where = calibration.project
    lapses = [sentence for each in look_at(calibration).lapses.values() for sentence in each]
    if lapses:
        message = gettext("The certificates of {calibration} in {project} have lapsed. {reason}")
        return message.format(calibration=calibration, project=where, reason=lapses[0])
    judges = [judge.pk for stage in stages_of(calibration) for judge in stage.judges]
    if alarm := alarms_of(judges).select_related("judge").first():
        message = gettext("A watch in {project} shows that {judge} has changed. Look at it there first.")
        return message.format(project=where, judge=alarm.judge)
    policies = RoutingPolicy.objects.select_related(
        "project", "rts", "mcq", "calibration", "round__guideline"
    )
    for policy in policies.filter(calibration=calibration, status=RoutingPolicy.Status.ROUTED):
        state = routing_state(policy, where)
        contradicted = [each.name for each in state.audit_by_dimension if each.contradicts] if state else []
        if contradicted or (state and state.verdict.audit) or policy.stopped_stages.exists():
            message = gettext("The audit in {project} contradicts the certificates of {calibration}.")
            return message.format(calibration=calibration, project=where)
    return ""
