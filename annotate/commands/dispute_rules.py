"""How far apart values open a dispute and how near they settle it, until Round I is closed."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.errors import FrozenError, InvalidValueError
from annotate.models import Project, Round, User
from annotate.queries.dispute_rules import Rule


@dataclass(frozen=True)
class OwnRule:
    """What a dimension has of its own; None where the project's holds."""

    threshold: int | None
    tolerance: int | None


@transaction.atomic
def set_dispute_rules(*, project: Project, rule: Rule, own: Mapping[int, OwnRule], by: User) -> Project:
    """Set the project's rule, and those of dimensions (by key) that differ from it.

    Dimensions that are not named keep theirs. Raters are not told the rule, so it may change while Round I is
    open. Locks the project, as closing does. Raises FrozenError once Round I is closed, InvalidValueError.
    """
    locked = lock_project(project)
    if locked.rounds.filter(number=1, status=Round.Status.CLOSED).exists():
        raise FrozenError(gettext("Round I is closed, and its disputes keep the rules that opened them."))
    _check(rule.threshold, rule.tolerance)
    before: dict[str, int | None] = {"threshold": locked.dispute_threshold, "tolerance": locked.tolerance}
    after: dict[str, int | None] = {"threshold": rule.threshold, "tolerance": rule.tolerance}
    record(locked, "project.dispute_rule_set", locked, before=before, after=after, by=by)
    locked.dispute_threshold, locked.tolerance = rule.threshold, rule.tolerance
    locked.save(update_fields=["dispute_threshold", "tolerance"])
    for dimension in locked.dimensions.filter(pk__in=own):
        wanted = own[dimension.pk]
        if wanted.tolerance is not None:
            _check(wanted.threshold or rule.threshold, wanted.tolerance)
        before = {"threshold": dimension.dispute_threshold, "tolerance": dimension.tolerance}
        after = {"threshold": wanted.threshold, "tolerance": wanted.tolerance}
        record(locked, "dimension.dispute_rule_set", dimension, before=before, after=after, by=by)
        dimension.dispute_threshold, dimension.tolerance = wanted.threshold, wanted.tolerance
        dimension.save(update_fields=["dispute_threshold", "tolerance"])
    return locked


def _check(threshold: int, tolerance: int) -> None:
    if not 0 <= tolerance < threshold:
        raise InvalidValueError(
            gettext("A tolerance must be less than its threshold, or a dispute is settled at once.")
        )
