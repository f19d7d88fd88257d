"""Routing policies and calibrations with their certificates: create, view, advance, withdraw."""

from dataclasses import replace
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agreement.reliability import Ground, JudgeUse, Shown, Use
from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Input, Number, Text
from annotate.core.access import project_for_reader
from annotate.core.models import Project
from annotate.core.page import request_user
from judges.core.access import OF_JUDGES, calibration_in, policy_in, project_for_routing
from judges.core.errors import CalibrationRefusedError
from judges.core.models import Calibration, Certificate, CertifiedStage, RoutingPolicy
from judges.core.policy_settings import POLICY_SETTINGS, names_of_policy_settings
from judges.core.specification import CalibrationSpec
from judges.core.stages import JudgeToAsk
from judges.results.queries.pairings import measured_judges
from judges.routing.commands.certificates import (
    ask_waiting_judges,
    compute_certificates,
    draw_calibration,
    withdraw_calibration,
)
from judges.routing.commands.policies import fit_budget, follow_proposal, make_policy, route, withdraw_policy
from judges.routing.forms import (
    OF_DIMENSION,
    USUAL_TEST,
    CalibrationForm,
    CertifiedRoutingForm,
    RoutingForm,
    usual_calibration,
    usual_policy_name,
    usual_values,
)
from judges.routing.queries.calibration_plans import DrawPlan, draw_plan
from judges.routing.queries.calibration_state import calibration_state
from judges.routing.queries.preview import routing_plan
from judges.routing.queries.state import routing_state
from judges.routing.views import NO_JUDGE

_RATERS = "the project's raters per item"
PolicyInput = form_input(
    "PolicyInput",
    RoutingForm,
    usual={each.name: each.default for each in POLICY_SETTINGS if each.name != "threshold"},
    optional={"name": "the next of “Policy 1”, “Policy 2”", "raters": _RATERS, "threshold": "0.4"},
    thresholds=serializers.DictField(
        child=Number(min_value=-1, max_value=1), required=False, help_text="r by the keys of dimensions."
    ),
)


CertifiedPolicyInput = form_input(
    "CertifiedPolicyInput",
    CertifiedRoutingForm,
    usual={each.name: each.default for each in POLICY_SETTINGS},
    optional={"name": "the next of “Policy 1”, “Policy 2”", "raters": "as in the calibration"},
)
CalibrationInput = form_input(
    "CalibrationInput",
    CalibrationForm,
    usual=USUAL_TEST,
    optional={
        "name": "the next of “Calibration 1”, “Calibration 2”",
        "judge": "the first RTS judge with judgments, or the first of any",
        "other": "the first MCQ judge with judgments, if there is one",
        "confidence": "closeness with an MCQ judge, else steadiness",
        "dimensions": "all",
        "raters": _RATERS,
    },
    shown=Text(required=False, max_length=100, help_text="The digest of the plan that was looked at."),
)


class PolicyRow(serializers.ModelSerializer[RoutingPolicy]):
    """A routing policy."""

    thresholds = serializers.DictField(child=serializers.FloatField())

    class Meta:
        model = RoutingPolicy
        fields = (
            *("id", "name", "rule", "rts", "mcq", "thresholds", *names_of_policy_settings()),
            *("status", "created_at", "routed_at", "withdrawn_at"),
        )


class JudgeToAskRow(serializers.Serializer[Any]):
    """A judge of a later stage that has to judge some units first."""

    judge = serializers.CharField(source="judge.name")
    units = serializers.SerializerMethodField(help_text="How many.")

    def get_units(self, waiting: JudgeToAsk) -> int:
        """Return the number of units."""
        return len(waiting.units)


class PartRow(serializers.Serializer[Any]):
    """Units with a value of the judge that go to people, or that stay."""

    units = serializers.IntegerField()
    rated = serializers.IntegerField(help_text="Of these, by people.")
    wrong = serializers.IntegerField(help_text="Of the rated: the judge is more than a point off.")
    expected_wrong = serializers.FloatField(
        help_text="Of all with a forecast: each unit is wrong as often as the rated ones of its system."
    )
    of_dimension = serializers.IntegerField(
        help_text="Units of systems without ratings: the error rate of their dimension is their forecast."
    )
    without_forecast = serializers.IntegerField(help_text="Units of dimensions without ratings.")


class GainRow(serializers.Serializer[Any]):
    """What people are expected to correct."""

    sent = PartRow(help_text="What goes to people.")
    kept = PartRow(help_text="What stays with the judge.")


class JudgeUseRow(serializers.Serializer[Any]):
    """A use of the judge's values, and its permission."""

    use = serializers.ChoiceField(choices=list(JudgeUse))
    shown = serializers.ChoiceField(choices=list(Shown))
    says = serializers.CharField(help_text="The evidence in a sentence or two.")


class DimensionVerdictRow(serializers.Serializer[Any]):
    """The verdict on the judge on a dimension."""

    dimension = serializers.CharField(source="dimension.key")
    kept = serializers.IntegerField(help_text="Units that stay with the judge.")
    use = serializers.ChoiceField(source="verdict.use", choices=list(Use))
    ground = serializers.ChoiceField(source="verdict.ground", choices=list(Ground))
    says = serializers.CharField(source="verdict.says", help_text="The verdict in a sentence or two.")
    uses = JudgeUseRow(
        source="verdict.uses", many=True, help_text="Uses of the judge's values; empty if it is refused."
    )
    refusal = serializers.CharField(
        allow_null=True, help_text="The reason against the units that stay; null if they may stay."
    )


class ThresholdStepRow(serializers.Serializer[Any]):
    """The units that stay with the judge on a dimension at an r."""

    threshold = serializers.FloatField(help_text="r.")
    kept = serializers.IntegerField(source="kept.units", help_text="Units that stay.")
    expected_wrong = serializers.FloatField(
        source="kept.expected_wrong", help_text="Of them, those expected to be wrong."
    )
    expected_share = serializers.FloatField(
        source="kept.expected_share",
        allow_null=True,
        help_text="The expected share of wrong units; null if nothing stays or is rated.",
    )
    without_forecast = serializers.IntegerField(
        source="kept.without_forecast", help_text="Of them, units without a forecast."
    )
    ratings_saved = serializers.IntegerField(help_text="About how many ratings, after audits.")
    refusal = serializers.CharField(
        source="verdict.refusal", allow_null=True, help_text="The reason against this r, or null."
    )


class AdviceRow(serializers.Serializer[Any]):
    """The r that Concord would choose on a dimension, with the curve over r."""

    dimension = serializers.CharField(source="dimension.key")
    threshold = serializers.FloatField(source="chosen.threshold", allow_null=True, help_text="Null: no r.")
    says = serializers.CharField(help_text="The reason. A forecast, not a guarantee.")
    steps = ThresholdStepRow(many=True, help_text="By increasing r.")


class PolicyDetail(serializers.Serializer[Any]):
    """A policy with its effect on the present judgments."""

    policy = PolicyRow()
    all_units = serializers.IntegerField()
    sent = serializers.IntegerField(help_text="Units that go to people.")
    audited = serializers.IntegerField(help_text="Of them, those drawn for the audit.")
    kept = serializers.IntegerField(help_text="Units that stay with the judge, the audited among them.")
    audited_share = serializers.FloatField(
        allow_null=True,
        help_text="Of what stays, audited on average; null where nothing stays.",
    )
    ratings = serializers.IntegerField(help_text="Still to be asked of people, audits included.")
    gain = GainRow(source="decided.gain", allow_null=True, help_text="Null where people have rated nothing.")
    advice = AdviceRow(many=True, help_text="On r, by dimension, of a draft by R.")
    warnings = serializers.ListField(child=serializers.CharField(), help_text="What to know before routing.")
    verdicts = DimensionVerdictRow(many=True, help_text="By dimension; none of a withdrawn policy.")
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Units by why they go.")
    refusal = serializers.CharField(help_text="Why it cannot be routed; empty where it can.")
    digest = serializers.CharField(help_text="Of the plan: send it as `shown` to route just this.")
    to_ask = JudgeToAskRow(
        source="decided.to_ask",
        many=True,
        help_text="Judges of the next stage that have to judge units first.",
    )


class StepInput(Input):
    """The digest of the viewed preview."""

    shown = Text(max_length=100, help_text="The digest of the plan that was looked at.")


class Policies(ApiView):
    """The routing policies of a project."""

    about = "policies"

    @reads(PolicyRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List routing policies."""
        project = project_for_reader(request.user, slug)
        return self.page(RoutingPolicy.objects.filter(project=project), PolicyRow)

    @writes(PolicyDetail, accepts=PolicyInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create a policy by R; no unit is routed before its step `route`."""
        project = project_for_routing(request.user, slug)
        usual = usual_values(project)
        sent = self.check(PolicyInput)
        # The page's form has a field for each dimension with its own r.
        own = {f"{OF_DIMENSION}{key}": r for key, r in sent.pop("thresholds", {}).items()}
        form = valid(RoutingForm({**usual, **sent, **own}, project=project))
        spec = fit_budget(project, form.spec(), form.cleaned_data["budget"])
        policy = make_policy(project=project, spec=spec, by=request_user(request))
        return _detail(policy, status=201)


class PolicyView(ApiView):
    """A routing policy."""

    about = "policies"

    @reads(PolicyDetail)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a policy and its present effect."""
        return _detail(policy_in(project_for_reader(request.user, slug), pk))


class PolicyStep(ApiView):
    """A step of a policy."""

    about = "policies"
    steps = ("ask", "route", "follow", "withdraw")

    @writes(PolicyDetail, accepts=StepInput)
    def post(self, request: Request, slug: str, pk: int, step: str) -> Response:
        """Run the next judges, route the viewed plan, follow the viewed proposal, or withdraw."""
        policy = policy_in(project_for_routing(request.user, slug), pk)
        shown, by = self.check(StepInput)["shown"], request_user(request)
        if step == "ask":
            waiting = routing_plan(policy, policy.project).decided.to_ask
            ask_waiting_judges(project=policy.project, waiting=waiting, by=by)
        elif step == "route":
            policy = route(policy=policy, by=by, shown=shown)
        elif step == "follow":
            follow_proposal(policy=policy, by=by, shown=shown)
        else:
            withdraw_policy(policy=policy, by=by)
        # The commands changed a locked copy of the row.
        return _detail(policy_in(policy.project, pk))


def _detail(policy: RoutingPolicy, *, status: int = 200) -> Response:
    plan = routing_plan(policy, policy.project)
    state = routing_state(policy, policy.project)
    # The verdict on a routed policy comes from its audit, which only the state has.
    shown = replace(plan, verdict=state.verdict) if state else plan
    return Response(PolicyDetail(shown).data, status=status)


class CalibrationRow(serializers.ModelSerializer[Calibration]):
    """A calibration: the random sample that tests a judge, and the settings of the test."""

    judge = serializers.CharField(source="judge.name")
    other = serializers.CharField(source="other.name", allow_null=True, default=None)

    class Meta:
        model = Calibration
        fields = (
            *("id", "name", "judge", "other", "loss", "cut", "risk", "significance_level", "confidence"),
            *("raters", "size", "fitting", "seed", "status", "drawn_at", "ended_at"),
        )


class CertifiedStageRow(serializers.ModelSerializer[CertifiedStage]):
    """What one judge of several decides."""

    judge = serializers.CharField(source="judge.name")

    class Meta:
        model = CertifiedStage
        fields = ("position", "judge", "threshold", "accepted", "errors")


class CertificateRow(serializers.ModelSerializer[Certificate]):
    """The result on a dimension: a threshold, or the reason why all units go to people."""

    kept_share = serializers.FloatField(help_text="The share of units that stay with the judge.")
    steps = serializers.ListField(child=serializers.DictField(), help_text="The thresholds tested.")
    controls = serializers.DictField(
        child=serializers.DictField(),
        help_text="The same test of a judge of one value, and of one with its values dealt anew.",
    )
    error_model = serializers.DictField(allow_null=True)
    stages = CertifiedStageRow(many=True, help_text="Of a calibration with several judges.")

    class Meta:
        model = Certificate
        exclude = ("id", "calibration", "dimension")


class CertifiedDimensionRow(serializers.Serializer[Any]):
    """A dimension of a calibration."""

    dimension = serializers.CharField(source="dimension.key")
    drawn = serializers.IntegerField(help_text="Units that calibrate.")
    rated = serializers.IntegerField(help_text="Those with a rating now.")
    lapses = serializers.ListField(child=serializers.CharField(), help_text="What changed since the draw.")
    certificate = CertificateRow(allow_null=True, help_text="Null before certificates are computed.")
    valid = serializers.BooleanField(help_text="Whether there is a threshold that still holds.")
    known_errors = serializers.IntegerField(
        source="known.wrong", default=None, allow_null=True, help_text="Wrong kept units that people rated."
    )
    says = serializers.CharField(help_text="The certificate in a sentence or two.")
    warnings = serializers.ListField(
        child=serializers.CharField(), help_text="What to mind, as that a constant judge is certified too."
    )


class StageRow(serializers.Serializer[Any]):
    """A judge of a calibration, and the judge that its confidence comes from."""

    judge = serializers.CharField(source="judge.name")
    other = serializers.CharField(source="other.name", allow_null=True, default=None)


class CalibrationDetail(serializers.Serializer[Any]):
    """A calibration with its certificates and the changes since its sampling."""

    calibration = CalibrationRow()
    dimensions = CertifiedDimensionRow(many=True)
    stages = StageRow(many=True, help_text="The judges that decide, one after the other.")
    bound = serializers.DictField(
        source="calibration.bound",
        help_text="The settings that the certificates are valid for, frozen when the sample was drawn.",
    )
    can_route = serializers.BooleanField(help_text="Whether a policy can follow it.")
    to_ask = JudgeToAskRow(many=True, help_text="Judges that have to judge the sample before `compute`.")


class DimensionPlanRow(serializers.Serializer[Any]):
    """The sample of a dimension."""

    dimension = serializers.CharField(source="dimension.key")
    units = serializers.IntegerField()
    left_out = serializers.IntegerField(
        help_text="Without a value or a confidence; they always go to people."
    )
    drawn = serializers.IntegerField()
    rated = serializers.IntegerField(help_text="Of the drawn units: with a rating already.")
    needed = serializers.IntegerField(
        source="needed.ratings", allow_null=True, help_text="Ratings for the test; null: no number suffices."
    )
    least = serializers.IntegerField(
        source="needed.least_ratings", allow_null=True, help_text="The fewest that can certify anything."
    )
    reason = serializers.CharField(
        source="needed.reason", allow_null=True, help_text="Why no number of ratings suffices."
    )
    warning = serializers.CharField()


class DrawPlanRow(serializers.Serializer[Any]):
    """The plan of a calibration's sample."""

    dimensions = DimensionPlanRow(many=True)
    size = serializers.IntegerField(source="calibration.size", help_text="Calibrating units per dimension.")
    fitting = serializers.IntegerField(
        source="calibration.fitting", help_text="Units per dimension that fit the error model."
    )
    units = serializers.SerializerMethodField(help_text="Units of all dimensions.")
    items = serializers.IntegerField()
    ratings = serializers.IntegerField(help_text="Still to be asked of people.")
    seconds = serializers.FloatField(allow_null=True, help_text="That they take; null: unknown.")
    warnings = serializers.ListField(child=serializers.CharField())
    refusal = serializers.CharField(help_text="The reason against drawing; empty if there is none.")
    digest = serializers.CharField(help_text="Of the plan: send it as `shown` to draw just this.")

    def get_units(self, plan: DrawPlan) -> int:
        """Return their number."""
        return len(plan.units)


class Certificates(ApiView):
    """The calibrations of a project."""

    about = "certificates"

    @reads(CalibrationRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List calibrations; the URL of each shows its certificates."""
        project = project_for_reader(request.user, slug)
        return self.page(
            Calibration.objects.filter(project=project).select_related(*OF_JUDGES), CalibrationRow
        )

    @writes(CalibrationDetail, accepts=CalibrationInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Sample the units of a calibration and assign exactly these to people."""
        project, sent = project_for_routing(request.user, slug), self.check(CalibrationInput)
        shown, by = sent.pop("shown", None), request_user(request)
        calibration = draw_calibration(
            project=project, spec=_calibration_spec(project, sent), by=by, shown=shown
        )
        return _certificates(calibration, status=201)


class CertificatePreview(ApiView):
    """The plan of a calibration."""

    about = "certificates"

    @writes(DrawPlanRow, accepts=CalibrationInput)
    def post(self, request: Request, slug: str) -> Response:
        """Show the plan of a sample without sampling."""
        project, sent = project_for_routing(request.user, slug), self.check(CalibrationInput)
        # Both operations accept one input, so a client can send the body of its preview on.
        sent.pop("shown", None)
        return Response(DrawPlanRow(draw_plan(project, _calibration_spec(project, sent))).data)


class CalibrationView(ApiView):
    """A calibration."""

    about = "certificates"

    @reads(CalibrationDetail)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a calibration's certificates, and their present validity."""
        return _certificates(calibration_in(project_for_reader(request.user, slug), pk))


class CalibrationStep(ApiView):
    """A step of a calibration."""

    about = "certificates"
    steps = ("ask", "compute", "withdraw")

    @writes(CalibrationDetail)
    def post(self, request: Request, slug: str, pk: int, step: str) -> Response:
        """Run later judges on the sample, compute the certificates, once, or withdraw the sample."""
        calibration = calibration_in(project_for_routing(request.user, slug), pk)
        by = request_user(request)
        if step == "ask":
            waiting = calibration_state(calibration).to_ask
            ask_waiting_judges(project=calibration.project, waiting=waiting, by=by)
        else:
            act = compute_certificates if step == "compute" else withdraw_calibration
            act(calibration=calibration, by=by)
        return _certificates(calibration_in(calibration.project, pk))


class PolicyOfCalibration(ApiView):
    """The policies that follow a calibration."""

    about = "certificates"

    @writes(PolicyDetail, accepts=CertifiedPolicyInput, status=201)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Create a policy that follows the certificates; no unit is routed before its step `route`."""
        project = project_for_routing(request.user, slug)
        calibration = calibration_in(project, pk)
        usual = {"name": usual_policy_name(project), "raters": calibration.raters}
        sent = self.check(CertifiedPolicyInput)
        form = valid(CertifiedRoutingForm({**usual, **sent}, calibration=calibration))
        return _detail(make_policy(project=project, spec=form.spec(), by=request_user(request)), status=201)


def _calibration_spec(project: Project, sent: dict[str, Any]) -> CalibrationSpec:
    judges = measured_judges(project)
    if not judges:
        raise CalibrationRefusedError(str(NO_JUDGE))
    usual = usual_calibration(project, judges)
    return valid(CalibrationForm({**usual, **sent}, project=project, judges=judges)).spec()


def _certificates(calibration: Calibration, *, status: int = 200) -> Response:
    return Response(CalibrationDetail(calibration_state(calibration)).data, status=status)
