"""Operations of the API about disputes."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Prefetch, QuerySet
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import ChoiceValue, Data, Input, Points, Text, Whole
from annotate.core import access
from annotate.core.access import project_for_admin, rates_independently
from annotate.core.errors import InvalidValueError
from annotate.core.mails import mail_is_sent
from annotate.core.models import Dispute, DisputeEvent, DisputeRater, Membership, Post, Project, Role
from annotate.core.page import request_user
from annotate.core.rounds import disputes_of, rounds_of
from annotate.core.scale import SMALLEST_STEP
from annotate.disputes.commands.digests import nudge_raters
from annotate.disputes.commands.disputes import answer_dispute, post_message, set_dispute_rules
from annotate.disputes.forms import LARGEST, AdjudicationForm, DisputeRulesForm, PostForm, field_name
from annotate.disputes.queries.activity import DisputeFilter, count_pending_by_rater, disputes_of_project
from annotate.disputes.queries.page import DisputePage, dispute_page
from annotate.disputes.queries.rules import rule_previews
from annotate.results.figures import load_figures
from annotate.results.queries.disagreements import SPREADS, counted_spreads
from annotate.results.registry import result_of

# Disputes: listed, read with thread and history, answered by their raters, decided by admins.

ANYONE = ("read", "rate")


class DisputeRow(serializers.ModelSerializer[Dispute]):
    """A disputed unit. The system is hidden from users who can still influence the decision."""

    dimension = serializers.CharField(source="dimension.key")
    document = serializers.SerializerMethodField()
    system = serializers.SerializerMethodField()
    spread = Points()
    threshold = Points()
    tolerance = Points()
    adjudicated_value = Points(allow_null=True)
    adjudicated_data = Data(allow_null=True)
    waits_for = serializers.SerializerMethodField(
        help_text="Aliases of the raters whose answer is missing; null for raters."
    )

    class Meta:
        model = Dispute
        fields = (
            *("number", "dimension", "document", "system", "status", "spread", "threshold", "tolerance"),
            *("adjudicated_value", "adjudicated_data", "updated_at", "waits_for"),
        )

    def get_document(self, dispute: Dispute) -> str | None:
        """Return the document's key; None for raters, who read the document itself."""
        return dispute.item.document.key if self.context["reads"] else None

    def get_system(self, dispute: Dispute) -> str | None:
        """Return the system's name once Round II is closed, to readers."""
        return dispute.item.system.name if self.context["reads"] and self.context["closed"] else None

    def get_waits_for(self, dispute: Dispute) -> list[str] | None:
        """Return the aliases in their order; `waiting` is prefetched."""
        if not self.context["reads"]:
            return None
        waiting: list[DisputeRater] = dispute.waiting  # type: ignore[attr-defined]
        return sorted(each.rater.alias for each in waiting)


class Standing(serializers.Serializer[Any]):
    """The answer of one rater, before and after discussion."""

    rater = serializers.CharField(source="rater.rater_name")
    is_me = serializers.BooleanField()
    value_before = Points(source="first.value", allow_null=True)
    data_before = Data(source="first.data", allow_null=True)
    comment_before = serializers.CharField(source="first.comment")
    value = Points()
    data = Data(allow_null=True)  # type: ignore[assignment]  # a field's name is no attribute
    comment = serializers.CharField(source="answer.comment", default="")
    short_reason = serializers.CharField(
        source="last_change.short_reason", default="", help_text="With which the value was kept, if any."
    )
    differs = serializers.BooleanField(
        help_text="Whether the value was kept because nothing new is left to say."
    )
    revision = serializers.IntegerField(help_text="Of the answer; 0 where it is the value of Round I.")


class PostRow(serializers.ModelSerializer[Post]):
    """One message of the thread."""

    rater = serializers.CharField(source="author.rater_name")

    class Meta:
        model = Post
        fields = ("rater", "at", "text")


class EventRow(serializers.ModelSerializer[DisputeEvent]):
    """An event of the dispute."""

    value = Points(allow_null=True)
    data = Data(allow_null=True)  # type: ignore[assignment]  # a field's name is no attribute

    class Meta:
        model = DisputeEvent
        fields = ("at", "kind", "value", "data", "note")


class DisputePart(serializers.Serializer[Any]):
    """A part of the document."""

    label = serializers.CharField()  # type: ignore[assignment]
    text = serializers.CharField()


class DisputeSide(serializers.Serializer[Any]):
    """An output of a comparison."""

    number = serializers.IntegerField()
    part = serializers.IntegerField(help_text="In passages.")
    text = serializers.CharField(source="marked.text")


class DisputeDetail(serializers.Serializer[Any]):
    """Everything about one disputed unit that its raters may see."""

    number = serializers.IntegerField(source="dispute.number")
    status = serializers.CharField(source="dispute.status")
    tolerance = Points(source="dispute.tolerance")
    adjudicated_value = Points(source="dispute.adjudicated_value", allow_null=True)
    adjudicated_data = Data(source="dispute.adjudicated_data", allow_null=True)
    dimension = serializers.CharField(source="dimension.key")
    title = serializers.CharField()
    parts = DisputePart(many=True)
    text = serializers.CharField(source="rated.text")
    sides = DisputeSide(many=True, help_text="The outputs of a comparison, in your order.")
    takes_answers = serializers.BooleanField()
    standpoints = Standing(many=True)
    thread = PostRow(many=True, source="posts")
    history = EventRow(many=True, source="events")


class DisputeChoice(serializers.Serializer[Any]):
    """Filters for disputes. A missing filter matches all."""

    status = ChoiceValue(Dispute.Status.choices, required=False)
    dimension = serializers.CharField(required=False, help_text="The dimension's key.")
    rater = serializers.CharField(required=False, help_text="The alias of a rater whom it waits for.")
    silent = serializers.IntegerField(
        required=False, min_value=1, max_value=3650, help_text="Open without a word for so many days."
    )


class DisputeAnswer(Input):
    """Keep the answer (value and data are null) or change it, with a reason."""

    value = Points(allow_null=True)
    data = Data(  # type: ignore[assignment]  # a field's name is no attribute
        required=False,
        allow_null=True,
        default=None,
        help_text="An answer of several pieces, by the kind of question.",
    )
    comment = Text(required=False, allow_blank=True)
    short_reason = Text(
        required=False,
        allow_blank=True,
        max_length=100,
        help_text="One of the project's, to keep a value without a comment.",
    )
    differs = serializers.BooleanField(
        default=False, help_text="Keep the value and say that the raters differ: nothing new is to be said."
    )
    revision = Whole(
        source="seen_revision",
        min_value=0,
        max_value=2**31 - 1,
        help_text="Of one's answer as it was last seen; 0 for Round I.",
    )
    seen_status = Text(
        required=False,
        max_length=12,
        help_text="The dispute's as it was last seen: an answer that opens again what was settled meanwhile "
        "is then refused.",
    )


Decision = form_input("Decision", AdjudicationForm)
NewPost = form_input("NewPost", PostForm)


class Disputes(ApiView):
    """The disputes of a project."""

    about = "disputes"

    @reads(DisputeRow, paged=True, filters=(DisputeChoice,), scopes=ANYONE)
    def get(self, request: Request, slug: str) -> Response:
        """List disputes: a rater's own once Round II was opened, all of them for readers and deciders."""
        membership = access.membership(request.user, slug, *access.DISPUTE_READERS, Role.ANNOTATOR)
        rounds = rounds_of(membership.project)
        chosen = DisputeFilter(**self.filters(DisputeChoice))
        if membership.role == Role.ANNOTATOR:
            own: QuerySet[Dispute] = disputes_of(membership).select_related("dimension")
            return self.page(own, DisputeRow, reads=False)
        project = access.project_for_dispute_reader(request.user, slug)
        found = disputes_of_project(project, chosen, round_two=rounds.get(2))
        # Readers see systems only after Round II, and adjudicators never.
        closed = membership.role != Role.ADJUDICATOR and 2 in rounds and not rounds[2].is_open
        waiting = DisputeRater.objects.filter(since__isnull=False).select_related("rater")
        # Rows of the list contain no texts, which can be long.
        light = found.defer("item__text", "item__document__parts").prefetch_related(
            Prefetch("raters", waiting, to_attr="waiting")
        )
        return self.page(light, DisputeRow, reads=True, closed=closed)


class DisputeView(ApiView):
    """A dispute."""

    about = "disputes"

    @reads(DisputeDetail, scopes=ANYONE)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Show a disputed unit with values, reasons, thread and history."""
        return Response(DisputeDetail(_page(request, slug, number)).data)


class AnswerToDispute(ApiView):
    """A rater's answer to a dispute."""

    about = "disputes"

    @writes(DisputeDetail, accepts=DisputeAnswer, scopes=("rate",))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Keep or change the rater's value in Round II."""
        membership, dispute = _own(request, slug, number)
        answer_dispute(dispute=dispute, rater=membership, **self.check(DisputeAnswer))
        return Response(DisputeDetail(_page(request, slug, number)).data)


class ThreadOfDispute(ApiView):
    """The thread of a dispute."""

    about = "disputes"

    @writes(PostRow, accepts=NewPost, status=201, scopes=("rate",))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Add a message to a dispute's thread."""
        membership, dispute = _own(request, slug, number)
        text = valid(PostForm(self.check(NewPost))).cleaned_data["text"]
        return Response(PostRow(post_message(dispute=dispute, author=membership, text=text)).data, status=201)


class DecisionOnDispute(ApiView):
    """The decision of an admin or adjudicator about a dispute."""

    about = "disputes"

    @writes(DisputeDetail, accepts=Decision)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Adjudicate a dispute with a value, leave it open, reopen it, or request new answers."""
        found = access.dispute_for_decider(request.user, slug, number)
        valid(AdjudicationForm(self.check(Decision))).decide(found, by=request_user(request))
        # The command changed the row through a locked copy, so this object is out of date.
        found.refresh_from_db()
        return Response(DisputeDetail(dispute_page(found, reader=None)).data)


def _own(request: Request, slug: str, number: int) -> tuple[Membership, Dispute]:
    membership = access.membership(request.user, slug, Role.ANNOTATOR)
    return membership, access.dispute_for_rater(membership, number)


def _page(request: Request, slug: str, number: int) -> DisputePage:
    membership = access.membership(request.user, slug, *access.DISPUTE_READERS, Role.ANNOTATOR)
    own = access.membership_of_rater(request.user, slug, number)
    if membership.role == Role.ANNOTATOR:
        if own is None:
            raise Http404(gettext("There is no such dispute in your list."))
        return dispute_page(access.dispute_for_rater(own, number), reader=own)
    project = access.project_for_dispute_reader(request.user, slug)
    return dispute_page(access.dispute_in(project, number), reader=own)


# Actions of admins on many disputes: the rules that open them, and nudging.


class RuleShape(serializers.Serializer[Any]):
    """The threshold that opens a dispute, and the tolerance within which all values settle it."""

    threshold = Points()
    tolerance = Points()


class WouldOpen(serializers.Serializer[Any]):
    """The number of disputes that a threshold would open."""

    threshold = Points()
    disputes = serializers.IntegerField()


class DimensionRule(serializers.Serializer[Any]):
    """The rule of a dimension. Its own settings are null if the project's apply."""

    dimension = serializers.CharField()
    threshold = Points(allow_null=True)
    tolerance = Points(allow_null=True)
    in_force = RuleShape()
    is_named = serializers.BooleanField(help_text="Categories: any two different ones dispute.")
    would_open = WouldOpen(
        many=True, allow_null=True, help_text="Null before Round I, and for who rates in it as well."
    )


class DisputeRules(serializers.Serializer[Any]):
    """The rules at the closing of Round I."""

    threshold = serializers.IntegerField()
    tolerance = serializers.IntegerField()
    dimensions = DimensionRule(many=True)
    current = serializers.BooleanField(
        help_text="Whether what thresholds would open is counted of the ratings as they are now; "
        "a worker counts it otherwise: ask again."
    )


class OwnRuleInput(Input):
    """A dimension's own rule. Null follows the project's rule."""

    dimension = Text(max_length=200, help_text="The dimension's key.")
    threshold = Points(min_value=SMALLEST_STEP, max_value=LARGEST, required=False, allow_null=True)
    tolerance = Points(min_value=0, max_value=LARGEST, required=False, allow_null=True)


class DisputeRulesInput(Input):
    """The rules. A dimension that is not listed has the project's."""

    threshold = Whole(required=False, min_value=1, max_value=LARGEST, help_text="Left out: unchanged.")
    tolerance = Whole(required=False, min_value=0, max_value=LARGEST, help_text="Left out: unchanged.")
    dimensions = OwnRuleInput(many=True, required=False)


class NudgeInput(Input):
    """Filters for disputes. A missing filter matches all."""

    dimension = Text(required=False, max_length=200, help_text="The dimension's key.")
    rater = Text(required=False, max_length=10, help_text="The alias of a rater whom they wait for.")
    silent = Whole(
        required=False, min_value=1, max_value=3650, help_text="Open without a word for so many days."
    )


class NudgedMembership(serializers.ModelSerializer[Membership]):
    """An annotator's membership."""

    class Meta:
        model = Membership
        fields = ("id", "label")


class NudgedRow(serializers.Serializer[Any]):
    """The nudged raters."""

    now = NudgedMembership(many=True)
    already = NudgedMembership(many=True, help_text="Nudged today before; nobody is twice on a day.")
    empty = NudgedMembership(many=True, help_text="No one has the membership, or it is closed.")
    mailed = serializers.BooleanField(help_text="Whether a mail goes out beside the line on their page.")


class RulesOfDisputes(ApiView):
    """The rules by which units are disputed and disputes are settled."""

    about = "disputes"

    @reads(DisputeRules)
    def get(self, request: Request, slug: str) -> Response:
        """Show the threshold of disputes, and the effect of each threshold now, for admins."""
        return _rules(request, project_for_admin(request.user, slug))

    @writes(DisputeRules, accepts=DisputeRulesInput)
    def put(self, request: Request, slug: str) -> Response:
        """Set the rules until Round I is closed."""
        project = project_for_admin(request.user, slug)
        form = _valid_rules(project, self.check(DisputeRulesInput))
        changed = set_dispute_rules(project=project, rule=form.rule, own=form.own, by=request_user(request))
        return _rules(request, changed)


class Nudges(ApiView):
    """Nudging raters about pending disputes."""

    about = "disputes"

    @writes(NudgedRow, accepts=NudgeInput)
    def post(self, request: Request, slug: str) -> Response:
        """Nudge the raters that these disputes need, on their page and by mail, once a day."""
        project = project_for_admin(request.user, slug)
        meant, round_two = DisputeFilter(**self.check(NudgeInput)), rounds_of(project).get(2)
        # Before Round II no dispute needs a rater; `nudge_raters` then raises the reason.
        waiting = count_pending_by_rater(project, meant, round_two) if round_two else {}
        link = request.build_absolute_uri(reverse("disputes", args=[slug]))
        nudged = nudge_raters(project=project, waiting=waiting, by=request_user(request), link=link)
        told = {
            "now": [nudge.rater for nudge in nudged.now],
            "already": nudged.already,
            "empty": nudged.empty,
            "mailed": bool(nudged.now) and mail_is_sent(),
        }
        return Response(NudgedRow(told).data)


def _rules(request: Request, project: Project) -> Response:
    round = rounds_of(project).get(1)
    # Counts of disputes would tell an admin who rates about the values of others.
    may_see_values = round is not None and not rates_independently(request.user, project)
    kept = load_figures(project, result_of(project, SPREADS)) if may_see_values else None
    dimensions = [
        {
            "dimension": each.dimension.key,
            "threshold": each.dimension.dispute_threshold,
            "tolerance": each.dimension.tolerance,
            "in_force": each.rule,
            "is_named": each.is_named,
            "would_open": [{"threshold": row[0], "disputes": row[1]} for row in each.opened]
            if kept and kept.is_there
            else None,
        }
        for each in rule_previews(project, counted_spreads(kept) if kept else {})
    ]
    told = {
        "threshold": project.dispute_threshold,
        "tolerance": project.tolerance,
        "dimensions": dimensions,
        "current": kept is None or kept.is_current,
    }
    return Response(DisputeRules(told).data)


def _valid_rules(project: Project, sent: Mapping[str, Any]) -> DisputeRulesForm:
    """Return the page's form with the submitted rules.

    Raises InvalidValueError with the positions in the request.
    """
    previews = rule_previews(project, {})
    dimensions = {each.dimension.key: each.dimension for each in previews if each.has_own_rule}
    # The page's form checks the rules, with the project's present values where the body has none.
    entered = {
        "threshold": sent.get("threshold", project.dispute_threshold),
        "tolerance": sent.get("tolerance", project.tolerance),
    }
    paths: dict[str, str] = {}
    for number, own in enumerate(sent.get("dimensions", [])):
        path = f"dimensions.{number}"
        dimension = dimensions.get(own["dimension"])
        if dimension is None:
            says = gettext("There is no dimension {dimension} that can have a rule of its own.").format(
                dimension=own["dimension"]
            )
            raise InvalidValueError(says, fields={f"{path}.dimension": says})
        for what in ("threshold", "tolerance"):
            name = field_name(what, dimension)
            entered[name], paths[name] = own.get(what), f"{path}.{what}"
    try:
        return valid(DisputeRulesForm(entered, project=project, previews=previews))
    except InvalidValueError as error:
        # Names of the form's fields become paths in the request.
        fields = {paths.get(name, name): says for name, says in error.fields.items()}
        raise InvalidValueError(error.message, fields=fields) from None
