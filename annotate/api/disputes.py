"""Disputes: listed, read with thread and history, answered by their raters, decided by admins."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate import access
from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Input, Text, Whole
from annotate.commands.disputes import adjudicate, answer_dispute, post_message
from annotate.forms.disputes import AdjudicationForm, PostForm
from annotate.models import Dispute, DisputeEvent, Membership, Post, Role
from annotate.queries.dispute_list import DisputeFilter, disputes_of_project
from annotate.queries.dispute_page import DisputePage, dispute_page
from annotate.queries.raters import disputes_of
from annotate.queries.rounds import rounds_of
from annotate.views.disputes import DECISIONS
from annotate.views.page import request_user

READERS = (Role.ADMIN, Role.RESEARCHER)
ANYONE = ("read", "rate")


class DisputeRow(serializers.ModelSerializer[Dispute]):
    """A disputed unit; the system is told to nobody who may still decide about it."""

    dimension = serializers.CharField(source="dimension.key")
    document = serializers.SerializerMethodField()
    system = serializers.SerializerMethodField()

    class Meta:
        model = Dispute
        fields = (
            *("number", "dimension", "document", "system", "status", "spread", "threshold", "tolerance"),
            *("adjudicated_value", "updated_at"),
        )

    def get_document(self, dispute: Dispute) -> str | None:
        """Return the document's key, None for a rater, who reads the document itself."""
        return dispute.item.document.key if self.context["reads"] else None

    def get_system(self, dispute: Dispute) -> str | None:
        """Return the system's name once Round II is closed, to readers."""
        return dispute.item.system.name if self.context["reads"] and self.context["closed"] else None


class Standing(serializers.Serializer[Any]):
    """What one rater holds, before and after discussion."""

    rater = serializers.CharField(source="rater.rater_name")
    is_me = serializers.BooleanField()
    value_before = serializers.IntegerField(allow_null=True)
    comment_before = serializers.CharField()
    value = serializers.IntegerField()
    comment = serializers.CharField(source="answer.comment", default="")
    revision = serializers.IntegerField(help_text="Of the answer; 0 where it is the value of Round I.")


class PostRow(serializers.ModelSerializer[Post]):
    """One message of the thread."""

    rater = serializers.CharField(source="author.rater_name")

    class Meta:
        model = Post
        fields = ("rater", "at", "text")


class EventRow(serializers.ModelSerializer[DisputeEvent]):
    """What happened to the dispute."""

    class Meta:
        model = DisputeEvent
        fields = ("at", "kind", "value", "note")


class DisputePart(serializers.Serializer[Any]):
    """A part of the document."""

    label = serializers.CharField()  # type: ignore[assignment]
    text = serializers.CharField()


class DisputeDetail(serializers.Serializer[Any]):
    """Everything about one disputed unit that its raters may see."""

    number = serializers.IntegerField(source="dispute.number")
    status = serializers.CharField(source="dispute.status")
    tolerance = serializers.IntegerField(source="dispute.tolerance")
    adjudicated_value = serializers.IntegerField(source="dispute.adjudicated_value", allow_null=True)
    dimension = serializers.CharField(source="dimension.key")
    title = serializers.CharField()
    parts = DisputePart(many=True)
    text = serializers.CharField()
    takes_answers = serializers.BooleanField()
    standpoints = Standing(many=True)
    thread = PostRow(many=True, source="posts")
    history = EventRow(many=True, source="events")


class DisputeChoice(serializers.Serializer[Any]):
    """Which disputes are meant; what is not given is any."""

    status = serializers.ChoiceField(Dispute.Status.choices, required=False)
    dimension = serializers.CharField(required=False, help_text="The dimension's key.")
    rater = serializers.CharField(required=False, help_text="The alias of a rater whom it waits for.")
    silent = serializers.IntegerField(
        required=False, min_value=1, max_value=3650, help_text="Open without a word for so many days."
    )


class DisputeAnswer(Input):
    """Keep one's value (null) or change it, with a reason."""

    value = Whole(allow_null=True)
    comment = Text(required=False, allow_blank=True)
    revision = Whole(
        min_value=0, max_value=2**31 - 1, help_text="Of one's answer as it was last seen; 0 for Round I."
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
        """List disputes: a rater's own once Round II was opened, all of them to who reads results."""
        place = access.membership(request.user, slug, *READERS, Role.ANNOTATOR)
        rounds = rounds_of(place.project)
        chosen = DisputeFilter(**self.filters(DisputeChoice))
        if place.role == Role.ANNOTATOR:
            own: QuerySet[Dispute] = disputes_of(place).select_related("dimension")
            return self.page(own, DisputeRow, reads=False)
        project = access.project_for_reader(request.user, slug)
        found = disputes_of_project(project, chosen, round_two=rounds.get(2))
        closed = 2 in rounds and not rounds[2].is_open
        light = found.defer("item__text", "item__document__parts")
        return self.page(light, DisputeRow, reads=True, closed=closed)


class OneDispute(ApiView):
    """A dispute."""

    about = "disputes"

    @reads(DisputeDetail, scopes=ANYONE)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """Show a disputed unit with values, reasons, thread and history."""
        return Response(DisputeDetail(_page(request, slug, number)).data)


class AnswerToDispute(ApiView):
    """One's answer to a dispute."""

    about = "disputes"

    @writes(DisputeDetail, accepts=DisputeAnswer, scopes=("rate",))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Keep or change one's value in Round II."""
        place, dispute = _own(request, slug, number)
        sent = self.checked(DisputeAnswer)
        answer_dispute(
            dispute=dispute,
            rater=place,
            value=sent["value"],
            comment=sent.get("comment", ""),
            seen_revision=sent["revision"],
            seen_status=sent.get("seen_status", ""),
        )
        return Response(DisputeDetail(_page(request, slug, number)).data)


class ThreadOfDispute(ApiView):
    """The thread of a dispute."""

    about = "disputes"

    @writes(PostRow, accepts=NewPost, status=201, scopes=("rate",))
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Add a message to a dispute's thread."""
        place, dispute = _own(request, slug, number)
        text = valid(PostForm(self.checked(NewPost))).cleaned_data["text"]
        return Response(PostRow(post_message(dispute=dispute, author=place, text=text)).data, status=201)


class DecisionOnDispute(ApiView):
    """An admin's decision about a dispute."""

    about = "disputes"

    @writes(DisputeDetail, accepts=Decision)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Adjudicate a dispute with a value, leave it open, open it again, or have it answered again."""
        project = access.project_for_admin(request.user, slug)
        found = access.dispute_in(project, number)
        data = valid(AdjudicationForm(self.checked(Decision))).cleaned_data
        why = {"dispute": found, "note": data["note"], "by": request_user(request)}
        decision = next((DECISIONS[name] for name in DECISIONS if data[name]), None)
        if decision:
            decision(**why)
        else:
            adjudicate(value=data["value"], **why)
        return Response(DisputeDetail(dispute_page(access.dispute_in(project, number), reader=None)).data)


def _own(request: Request, slug: str, number: int) -> tuple[Membership, Dispute]:
    place = access.membership(request.user, slug, Role.ANNOTATOR)
    return place, access.dispute_for_rater(place, number)


def _page(request: Request, slug: str, number: int) -> DisputePage:
    place = access.membership(request.user, slug, *READERS, Role.ANNOTATOR)
    own = access.place_of_rater(request.user, slug, number)
    if place.role == Role.ANNOTATOR:
        if own is None:
            raise Http404("There is no such dispute in your list.")
        return dispute_page(access.dispute_for_rater(own, number), reader=own)
    project = access.project_for_reader(request.user, slug)
    return dispute_page(access.dispute_in(project, number), reader=own)
