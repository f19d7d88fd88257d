"""What an admin does with many disputes at once: the rules that open them, and nudging who they wait for."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.urls import reverse
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import tasks
from annotate.access import project_for_admin, rates_independently
from annotate.api.forms import valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Input, Text, Whole
from annotate.commands.dispute_rules import set_dispute_rules
from annotate.commands.nudges import nudge_raters
from annotate.errors import InvalidValueError
from annotate.forms.dispute_rules import LARGEST, DisputeRulesForm, field_name
from annotate.invitation_mail import mail_is_sent
from annotate.models import Membership, Project
from annotate.queries.dispute_list import DisputeFilter, waited_for_in
from annotate.queries.dispute_rules import rule_previews
from annotate.queries.rounds import rounds_of
from annotate.views.page import request_user


class RuleShape(serializers.Serializer[Any]):
    """How far apart values open a dispute, and within which distance all values settle it."""

    threshold = serializers.IntegerField()
    tolerance = serializers.IntegerField()


class WouldOpen(serializers.Serializer[Any]):
    """How many disputes a threshold would open."""

    threshold = serializers.IntegerField()
    disputes = serializers.IntegerField()


class DimensionRule(serializers.Serializer[Any]):
    """The rule of a dimension; what it has of its own is null where the project's holds."""

    dimension = serializers.CharField()
    threshold = serializers.IntegerField(allow_null=True)
    tolerance = serializers.IntegerField(allow_null=True)
    in_force = RuleShape()
    is_named = serializers.BooleanField(help_text="Categories: any two different ones dispute.")
    would_open = WouldOpen(
        many=True, allow_null=True, help_text="Null before Round I, and for who rates in it as well."
    )


class DisputeRules(serializers.Serializer[Any]):
    """The rules that hold when Round I is closed."""

    threshold = serializers.IntegerField()
    tolerance = serializers.IntegerField()
    dimensions = DimensionRule(many=True)


class OwnRuleInput(Input):
    """What a dimension has of its own; null is the project's."""

    dimension = Text(max_length=200, help_text="The dimension's key.")
    threshold = Whole(min_value=1, max_value=LARGEST, required=False, allow_null=True)
    tolerance = Whole(min_value=0, max_value=LARGEST, required=False, allow_null=True)


class DisputeRulesInput(Input):
    """The rules; a dimension that is not named has the project's."""

    threshold = Whole(min_value=1, max_value=LARGEST)
    tolerance = Whole(min_value=0, max_value=LARGEST)
    dimensions = OwnRuleInput(many=True, required=False)


class NudgeInput(Input):
    """Which disputes are meant; what is not given is any."""

    dimension = Text(required=False, max_length=200, help_text="The dimension's key.")
    rater = Text(required=False, max_length=10, help_text="The alias of a rater whom they wait for.")
    silent = Whole(
        required=False, min_value=1, max_value=3650, help_text="Open without a word for so many days."
    )


class NudgedPlace(serializers.ModelSerializer[Membership]):
    """An annotator's place."""

    class Meta:
        model = Membership
        fields = ("id", "label")


class NudgedRow(serializers.Serializer[Any]):
    """Who was nudged."""

    now = NudgedPlace(many=True)
    already = NudgedPlace(many=True, help_text="Nudged today before; nobody is twice on a day.")
    empty = NudgedPlace(many=True, help_text="Nobody holds the place, or it is closed.")
    mailed = serializers.BooleanField(help_text="Whether a mail goes out beside the line on their page.")


class RulesOfDisputes(ApiView):
    """When units are disputed and settled."""

    about = "disputes"

    @reads(DisputeRules)
    def get(self, request: Request, slug: str) -> Response:
        """Show how far apart values open a dispute, and what each threshold would open now, for admins."""
        return _rules(request, project_for_admin(request.user, slug))

    @writes(DisputeRules, accepts=DisputeRulesInput)
    def put(self, request: Request, slug: str) -> Response:
        """Set the rules until Round I is closed."""
        project = project_for_admin(request.user, slug)
        form = _valid_rules(project, self.checked(DisputeRulesInput))
        changed = set_dispute_rules(project=project, rule=form.rule, own=form.own, by=request_user(request))
        return _rules(request, changed)


class Nudges(ApiView):
    """Asking raters to look at the disputes that wait for them."""

    about = "disputes"

    @writes(NudgedRow, accepts=NudgeInput)
    def post(self, request: Request, slug: str) -> Response:
        """Nudge the raters whom these disputes wait for, on their page and by mail, nobody twice on a day."""
        project = project_for_admin(request.user, slug)
        meant, round_two = DisputeFilter(**self.checked(NudgeInput)), rounds_of(project).get(2)
        waiting = waited_for_in(project, meant, round_two) if round_two else {}
        nudged = nudge_raters(project=project, waiting=waiting, by=request_user(request))
        link = request.build_absolute_uri(reverse("disputes", args=[slug]))
        for nudge in nudged.now:
            transaction.on_commit(partial(tasks.mail_nudge.delay, nudge.pk, link), robust=True)
        told = {
            "now": [nudge.rater for nudge in nudged.now],
            "already": nudged.already,
            "empty": nudged.empty,
            "mailed": bool(nudged.now) and mail_is_sent(),
        }
        return Response(NudgedRow(told).data)


def _rules(request: Request, project: Project) -> Response:
    round = rounds_of(project).get(1)
    may_see_values = round is not None and not rates_independently(request.user, project)
    dimensions = [
        {
            "dimension": each.dimension.key,
            "threshold": each.dimension.dispute_threshold,
            "tolerance": each.dimension.tolerance,
            "in_force": each.rule,
            "is_named": each.is_named,
            "would_open": [{"threshold": row[0], "disputes": row[1]} for row in each.opened]
            if may_see_values
            else None,
        }
        for each in rule_previews(project, round if may_see_values else None)
    ]
    told = {"threshold": project.dispute_threshold, "tolerance": project.tolerance, "dimensions": dimensions}
    return Response(DisputeRules(told).data)


def _valid_rules(project: Project, sent: Mapping[str, Any]) -> DisputeRulesForm:
    """Return the page's form with what was sent; raises InvalidValueError with the places of what was."""
    previews = rule_previews(project, None)
    dimensions = {each.dimension.key: each.dimension for each in previews if not each.is_named}
    entered = {"threshold": sent["threshold"], "tolerance": sent["tolerance"]}
    places: dict[str, str] = {}
    for number, own in enumerate(sent.get("dimensions", [])):
        place = f"dimensions.{number}"
        dimension = dimensions.get(own["dimension"])
        if dimension is None:
            says = f"There is no dimension {own['dimension']} that can have a rule of its own."
            raise InvalidValueError(says, fields={f"{place}.dimension": says})
        for what in ("threshold", "tolerance"):
            name = field_name(what, dimension)
            entered[name], places[name] = own.get(what), f"{place}.{what}"
    try:
        return valid(DisputeRulesForm(entered, project=project, previews=previews))
    except InvalidValueError as error:
        fields = {places.get(name, name): says for name, says in error.fields.items()}
        raise InvalidValueError(error.message, fields=fields) from None
