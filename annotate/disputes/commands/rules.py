"""The thresholds and tolerances of disputes, editable until Round I is closed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import FrozenError, InvalidValueError
from annotate.core.models import Project, Round, User
from annotate.disputes.queries.rules import Rule
from annotate.questions import kind_of
from annotate.questions.scale import SCALE

MOST_REASONS, LONGEST_REASON = 9, 100


@dataclass(frozen=True)
class OwnRule:
    """A dimension's own rule; a field with None follows the project's rule."""

    threshold: float | None
    tolerance: float | None


@transaction.atomic
def set_dispute_rules(
    *,
    project: Project,
    rule: Rule,
    own: Mapping[int, OwnRule],
    keep_reasons: Sequence[str] | None = None,
    by: User,
) -> Project:
    """Set the project's rule, the rules of dimensions (by key) that differ, and short reasons (None:

    as before).

    Dimensions without an entry keep their rules. Raters do not see the rule, so it may change while Round I
    is open. Locks the project, as closing does. Raises FrozenError once Round I is closed, InvalidValueError.
    """
    locked = lock_project(project)
    if locked.rounds.filter(number=1, status=Round.Status.CLOSED).exists():
        raise FrozenError(gettext("Round I is closed, and its disputes keep the rules that opened them."))
    _check(rule.threshold, rule.tolerance)
    reasons = locked.keep_reasons if keep_reasons is None else list(keep_reasons)
    _check_reasons(reasons)
    before: dict[str, object] = {
        "threshold": locked.dispute_threshold,
        "tolerance": locked.tolerance,
        "keep_reasons": locked.keep_reasons,
    }
    after: dict[str, object] = {
        "threshold": rule.threshold,
        "tolerance": rule.tolerance,
        "keep_reasons": reasons,
    }
    record(locked, "project.dispute_rule_set", locked, before=before, after=after, by=by)
    locked.dispute_threshold, locked.tolerance = rule.threshold, rule.tolerance
    locked.keep_reasons = reasons
    locked.save(update_fields=["dispute_threshold", "tolerance", "keep_reasons"])
    for dimension in locked.dimensions.filter(pk__in=own):
        wanted = own[dimension.pk]
        if wanted.tolerance is not None:
            kind = kind_of(dimension)
            usual = rule.threshold if kind is SCALE else kind.threshold
            _check(wanted.threshold or usual, wanted.tolerance)
        before = {"threshold": dimension.dispute_threshold, "tolerance": dimension.tolerance}
        after = {"threshold": wanted.threshold, "tolerance": wanted.tolerance}
        record(locked, "dimension.dispute_rule_set", dimension, before=before, after=after, by=by)
        dimension.dispute_threshold, dimension.tolerance = wanted.threshold, wanted.tolerance
        dimension.save(update_fields=["dispute_threshold", "tolerance"])
    return locked


def _check_reasons(reasons: Sequence[str]) -> None:
    if len(reasons) > MOST_REASONS or any(len(reason) > LONGEST_REASON for reason in reasons):
        raise InvalidValueError(
            gettext("At most {most} short reasons of at most {longest} characters can be offered.").format(
                most=MOST_REASONS, longest=LONGEST_REASON
            ),
            fields={"keep_reasons": gettext("Shorten this list.")},
        )


def _check(threshold: float, tolerance: float) -> None:
    if not 0 <= tolerance < threshold:
        raise InvalidValueError(
            gettext("A tolerance must be less than its threshold, or a dispute is settled at once.")
        )
