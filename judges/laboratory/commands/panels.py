import math
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.models import Project, User
from judges.core.errors import InUseError, invalid_field
from judges.core.models import Judge, Judgment, Panel, PanelMember
from judges.laboratory.queries.panels import (
    PanelFigures,
    PanelValues,
    members_of,
    panel_figures,
    refusal_of_change,
    share_for_teaching,
)

METHOD = "panel"
AT_ONCE = 1000
Rule = Panel.Rule


@transaction.atomic
def make_panel(
    *,
    project: Project,
    name: str,
    members: Sequence[Judge],
    rule: str,
    development_share: float | None = None,
    by: User | None,
) -> Panel:
    """Create a judge that combines the values of others, and compute its values. Locks the project.

    development_share: the share of the documents for `weights`; unused if the project has documents for
    teaching, which replace it. Raises InvalidValueError.
    """
    lock_project(project)
    share = share_for_teaching(project, rule)
    _refuse(project, name, members, rule, share or development_share)
    judge = Judge.objects.create(project=project, name=name, model="", method=METHOD)
    panel = Panel.objects.create(
        judge=judge, rule=rule, development_share=share or development_share, learns_from_parts=bool(share)
    )
    _add_members(panel, members)
    facts = _facts(name, rule, members, panel.development_share)
    record(project, "panel.made", judge, after=facts, by=by)
    compute_panel(panel=panel, by=by)
    return panel


@transaction.atomic
def change_panel(
    *,
    panel: Panel,
    name: str,
    members: Sequence[Judge],
    rule: str,
    development_share: float | None = None,
    by: User | None,
) -> Panel:
    """Replace the settings of an unused panel, and compute it again. Locks the project.

    Raises InUseError, and InvalidValueError like `make_panel`.
    """
    project = lock_project(panel.judge.project)
    panel = Panel.objects.select_for_update(of=("self",)).select_related("judge__project").get(pk=panel.pk)
    if reason := refusal_of_change(panel):
        raise InUseError(reason)
    share = share_for_teaching(project, rule)
    _refuse(project, name, members, rule, share or development_share, besides=panel.judge)
    before = _facts(panel.judge.name, panel.rule, members_of(panel), panel.development_share)
    panel.judge.name = name
    panel.judge.save(update_fields=["name"])
    # The digest does not cover the rule, so an empty one makes `compute_panel` write again.
    panel.rule, panel.development_share, panel.based_on = rule, share or development_share, ""
    panel.learns_from_parts = bool(share)
    panel.save(update_fields=["rule", "development_share", "learns_from_parts", "based_on"])
    # No result uses the panel yet, so members and values may be replaced as a whole.
    panel.members.all().delete()
    _add_members(panel, members)
    Judgment.objects.filter(judge=panel.judge).delete()  # also values of dimensions that it no longer has
    after = _facts(name, rule, members, panel.development_share)
    record(project, "panel.changed", panel.judge, before=before, after=after, by=by)
    compute_panel(panel=panel, by=by)
    return panel


def _add_members(panel: Panel, members: Sequence[Judge]) -> None:
    PanelMember.objects.bulk_create(
        PanelMember(panel=panel, judge=member, position=index) for index, member in enumerate(members)
    )


def _facts(name: str, rule: str, members: Sequence[Judge], share: float | None) -> dict[str, Any]:
    return {"name": name, "rule": rule, "members": [member.name for member in members], "share": share}


@transaction.atomic
def compute_panel(*, panel: Panel, by: User | None) -> PanelFigures:
    """Update a panel's judgments from its members' present values; corrections by people stay.

    Locks the project. Safe to run twice: without changes, only the time is written.
    """
    lock_project(panel.judge.project)
    panel = Panel.objects.select_for_update(of=("self",)).select_related("judge__project").get(pk=panel.pk)
    figures, members = panel_figures(panel), members_of(panel)
    if figures.digest != panel.based_on:
        for each in figures.by_dimension:
            _write(panel, members, figures.items, each)
        facts = {"judgments": Judgment.objects.filter(judge=panel.judge).count()}
        record(panel.judge.project, "panel.computed", panel.judge, after=facts, by=by)
    # Equal inputs give equal values, so only the time of the check changes.
    panel.based_on, panel.computed_at = figures.digest, timezone.now()
    panel.weights = {
        each.dimension.key: {
            "weights": list(each.weights.weights),
            "intercept": each.weights.intercept,
            "units": each.weights.units,
        }
        for each in figures.by_dimension
        if each.weights is not None
    }
    panel.save(update_fields=["based_on", "computed_at", "weights"])
    return figures


def _write(panel: Panel, members: Sequence[Judge], items: Sequence[int], said: PanelValues) -> None:
    own = Judgment.objects.filter(judge=panel.judge, dimension=said.dimension.id)
    own.filter(is_corrected=False).delete()
    # The deletion leaves corrections by people, which keep their values.
    corrected = set(own.values_list("item", flat=True))
    now = timezone.now()
    Judgment.objects.bulk_create(
        (
            Judgment(
                judge=panel.judge,
                dimension_id=said.dimension.id,
                item_id=item,
                status=Judgment.Status.DONE,
                value=value,
                rationale=_describe_answers(panel, members, said, index),
                answered_at=now,
            )
            for index, (item, value) in enumerate(zip(items, said.values.tolist(), strict=True))
            if not math.isnan(value) and item not in corrected
        ),
        batch_size=AT_ONCE,
    )


def _describe_answers(panel: Panel, members: Sequence[Judge], said: PanelValues, index: int) -> str:
    """Return the members' values of an item, and their spread."""
    values = zip(members, said.members[:, index].tolist(), strict=True)
    listed = ", ".join(f"{judge.name}: {value:.4g}" for judge, value in values)
    apart = said.spread[index]
    combined = gettext("{rule} of {listed}.").format(
        rule=panel.get_rule_display().capitalize(), listed=listed
    )
    if math.isnan(apart):
        return combined
    spread = gettext("Standard deviation among them: {spread:.3g}.").format(spread=apart)
    return f"{combined} {spread}"


def _refuse(
    project: Project,
    name: str,
    members: Sequence[Judge],
    rule: str,
    development_share: float | None,
    besides: Judge | None = None,
) -> None:
    same_name = Judge.objects.filter(project=project, name=name)
    if besides is not None:
        same_name = same_name.exclude(pk=besides.pk)
    if same_name.exists():
        raise invalid_field(
            "name", gettext("The project has a judge {name} already; choose another name.").format(name=name)
        )
    if rule not in Rule.values:
        raise invalid_field(
            "rule",
            gettext("There is no rule {rule}; there are {names}.").format(
                rule=rule, names=", ".join(Rule.values)
            ),
        )
    # Two or more, and none of them twice.
    if len(set(members)) < max(len(members), 2):
        raise invalid_field("members", gettext("A panel needs two judges at least, each once."))
    if any(member.project_id != project.pk for member in members):
        raise invalid_field("members", gettext("A judge belongs to another project."))
    if Judgment.objects.filter(judge__in=members, other__isnull=False).exists():
        raise invalid_field(
            "members", gettext("Judges that compare two texts have no values to be combined.")
        )
    if Panel.objects.filter(judge__in=members).exists():
        raise invalid_field("members", gettext("A panel is no member of a panel; choose its members."))
    is_share = development_share is not None and 0 < development_share < 1
    # Weights need a share, and the other rules must have none.
    if (rule == Rule.WEIGHTS) != is_share:
        message = gettext(
            "Weights are learned on a share of the documents, above 0 and below 1; other rules have none."
        )
        raise invalid_field("development_share", message)
