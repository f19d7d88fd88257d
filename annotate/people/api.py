"""Members of a project, and its invitations."""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Flag, Input, Text
from annotate.core.access import invitation_in, membership_in, project_for_admin, project_for_reader
from annotate.core.errors import NotReadyError
from annotate.core.models import Invitation, Membership, Role
from annotate.core.page import request_user
from annotate.people.commands import (
    ask_for_mail,
    change_role,
    deactivate_member,
    invite,
    invite_many,
    reactivate_member,
    rename_membership,
    withdraw_invitation,
)
from annotate.people.forms import HandOverForm, InvitationForm, InvitationsForm, JoinForm, LabelForm, RoleForm
from annotate.people.queries import PendingInvitation, other_annotators, people_of
from annotate.people.recorded_raters import join_recorded_rater, possible_members
from annotate.rating.commands.assignments import hand_over_work

NewInvitation = form_input("NewInvitation", InvitationForm, without=("send",))
NewInvitations = form_input(
    "NewInvitations",
    InvitationsForm,
    without=("addresses",),
    addresses=serializers.ListField(child=Text(max_length=320), help_text="E-mail addresses."),
    send=Flag(required=False, default=False, help_text="Whether workers mail the links."),
)
RoleInput = form_input("RoleInput", RoleForm)
LabelInput = form_input("LabelInput", LabelForm)


class RaterRow(serializers.ModelSerializer[Membership]):
    """An annotator as exports show them."""

    rater = serializers.CharField(source="pseudonym")

    class Meta:
        model = Membership
        fields = ("rater", "active", "counted")


class MembershipRow(serializers.ModelSerializer[Membership]):
    """A person's membership of a project, as its admins see it."""

    email = serializers.CharField(source="user.email", default=None, allow_null=True)

    class Meta:
        model = Membership
        fields = ("id", "role", "label", "email", "alias", "pseudonym", "active", "counted")


class LoadRow(serializers.Serializer[Any]):
    """How far an annotator is with Round I, in items."""

    done = serializers.IntegerField()
    begun = serializers.IntegerField()
    waiting = serializers.IntegerField()


class PersonRow(MembershipRow):
    """A person's membership in a project with the progress of an annotator."""

    load = serializers.SerializerMethodField(help_text="Items of Round I; null without ratings to give.")

    class Meta(MembershipRow.Meta):
        fields = (*MembershipRow.Meta.fields, "load")  # type: ignore[assignment]

    @extend_schema_field(LoadRow(allow_null=True))
    def get_load(self, membership: Membership) -> Any:
        """Return the items done, begun and waiting."""
        load = self.context["loads"].get(membership.pk)
        return LoadRow(load).data if load else None


class InvitationRow(serializers.ModelSerializer[Invitation]):
    """An invitation."""

    class Meta:
        model = Invitation
        fields = ("id", "role", "email", "expires_at", "sent_at", "withdrawn_at")


class InvitedRow(serializers.Serializer[Any]):
    """The outcome of inviting several people."""

    made = InvitationRow(many=True)
    members = serializers.ListField(
        child=serializers.CharField(), help_text="The people who have that membership already."
    )
    waiting = serializers.ListField(child=serializers.CharField(), help_text="Who has a link that waits.")
    unmailed = serializers.ListField(
        child=serializers.CharField(),
        help_text="Who has a new link but gets no mail: this project sent one within the last day.",
    )


class PendingRow(serializers.Serializer[Any]):
    """An invitation that can still be accepted, with its link."""

    invitation = InvitationRow()
    link = serializers.SerializerMethodField()

    def get_link(self, pending: PendingInvitation) -> str:
        """Return the link; anyone with the link can join."""
        request: Request = self.context["request"]
        return request.build_absolute_uri(reverse("invitation", args=[pending.token]))


class MembershipInput(Input):
    """Whether a membership is active."""

    active = Flag()


class HandOverInput(Input):
    """The members who receive the items."""

    to = Text(
        max_length=40,
        help_text="The id of a membership, `everyone`, or `queue`: the next annotator who requests work.",
    )


class JoinInput(Input):
    """The actual rater of the ratings."""

    member = Text(max_length=40, help_text="The id of the membership of an annotator with an account.")


class HandedOverRow(serializers.Serializer[Any]):
    """The result of handing over items."""

    given = serializers.IntegerField(help_text="Items that have another rater now.")
    freed = serializers.IntegerField(help_text="Items that are free for whoever asks next.")
    begun = serializers.IntegerField(help_text="Of both, those of which something was answered.")


class Raters(ApiView):
    """The annotators of a project."""

    about = "people"

    @reads(RaterRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List annotators with the names used in exports, for readers of results."""
        project = project_for_reader(request.user, slug)
        return self.page(Membership.objects.filter(project=project, role=Role.ANNOTATOR), RaterRow)


class People(ApiView):
    """The people of a project."""

    about = "people"

    @reads(PersonRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List people with their addresses and their progress, for admins."""
        project = project_for_admin(request.user, slug)
        loads = {entry.membership.pk: entry.load for entry in people_of(project).members}
        entries = Membership.objects.filter(project=project).select_related("user")
        return self.page(entries, PersonRow, loads=loads)


class MembershipView(ApiView):
    """A membership of a project."""

    about = "people"

    @writes(MembershipRow, accepts=MembershipInput)
    def patch(self, request: Request, slug: str, pk: int) -> Response:
        """Deactivate or reactivate a membership; its ratings stay."""
        project = project_for_admin(request.user, slug)
        membership, active = membership_in(project, pk), self.check(MembershipInput)["active"]
        change = reactivate_member if active else deactivate_member
        change(membership=membership)
        return Response(MembershipRow(membership_in(project, pk)).data)


class MembershipRole(ApiView):
    """The role of a membership."""

    about = "people"
    operation = "RoleOfPlace"  # The name in published schemas.

    @writes(MembershipRow, accepts=RoleInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Change a person's role.

        If they have rated, the old membership closes and a new one starts.
        """
        project = project_for_admin(request.user, slug)
        role = Role(valid(RoleForm(self.check(RoleInput))).cleaned_data["role"])
        now = change_role(membership=membership_in(project, pk), role=role)
        return Response(MembershipRow(membership_in(project, now.pk)).data)


class MembershipLabel(ApiView):
    """An annotator's label in tables and charts."""

    about = "people"
    operation = "LabelOfPlace"  # The name in published schemas.

    @writes(MembershipRow, accepts=LabelInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Change an annotator's label; pseudonym and alias stay."""
        project = project_for_admin(request.user, slug)
        membership = membership_in(project, pk)
        label = valid(LabelForm(self.check(LabelInput))).cleaned_data["label"]
        rename_membership(membership=membership, label=label, by=request_user(request))
        return Response(MembershipRow(membership_in(project, pk)).data)


class HandOver(ApiView):
    """An annotator's unfinished work."""

    about = "people"

    @writes(HandedOverRow, accepts=HandOverInput)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Hand unfinished items to other annotators; finished items stay with their rater."""
        membership = membership_in(project_for_admin(request.user, slug), pk)
        form = HandOverForm(self.check(HandOverInput), others=other_annotators(membership))
        return Response(HandedOverRow(hand_over_work(membership=membership, to=valid(form).receivers)).data)


class RecordedMembership(ApiView):
    """The recorded ratings of a membership without an account."""

    about = "people"
    operation = "JoinedPlace"  # The name in published schemas.

    @writes(MembershipRow, accepts=JoinInput)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Give the recorded ratings to a member and return the membership.

        The recorded one is removed permanently.
        """
        project = project_for_admin(request.user, slug)
        recorded = membership_in(project, pk)
        member = valid(JoinForm(self.check(JoinInput), members=possible_members(project))).chosen
        join_recorded_rater(recorded=recorded, member=member, by=request_user(request))
        return Response(MembershipRow(membership_in(project, member.pk)).data)


class Invitations(ApiView):
    """The invitations to a project."""

    about = "people"

    @reads(PendingRow, many=True)
    def get(self, request: Request, slug: str) -> Response:
        """List invitations that can still be accepted, with their links."""
        people = people_of(project_for_admin(request.user, slug))
        pending = [*people.pending, *(one for entry in people.members for one in entry.pending)]
        return Response(PendingRow(pending, many=True, context={"request": request}).data)

    @writes(InvitationRow, accepts=NewInvitation, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Create an invitation; the list of invitations shows the link, and Concord sends no mail."""
        project = project_for_admin(request.user, slug)
        chosen = valid(InvitationForm(self.check(NewInvitation))).cleaned_data
        role, by = Role(chosen["role"]), request_user(request)
        made = invite(project=project, by=by, role=role, email=chosen["email"])
        return Response(InvitationRow(made).data, status=201)


class SeveralInvitations(ApiView):
    """Invitations of several people at once."""

    about = "people"

    @writes(InvitedRow, accepts=NewInvitations, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Invite each e-mail; skip and report members and people with a pending invitation.

        An e-mail that had a mail of this project within a day is invited without another one, and reported.
        """
        project = project_for_admin(request.user, slug)
        sent = self.check(NewInvitations)
        form = valid(InvitationsForm({**sent, "addresses": "\n".join(sent["addresses"])}))
        chosen, by = form.cleaned_data, request_user(request)
        found = invite_many(
            project=project, by=by, role=Role(chosen["role"]), emails=chosen["addresses"], note=chosen["note"]
        )
        unmailed = []
        for offer in found.made if chosen["send"] else ():
            try:
                ask_for_mail(invitation=offer, site=request.build_absolute_uri("/"))
            except NotReadyError:
                unmailed.append(offer.email)
        return Response(InvitedRow({**vars(found), "unmailed": unmailed}).data, status=201)


class MailOfInvitation(ApiView):
    """The mail with the link of an invitation."""

    about = "people"

    @writes(InvitationRow)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Queue a mail with the link, up to one a day per e-mail; `sent_at` is the time of sending."""
        offer = invitation_in(project_for_admin(request.user, slug), pk)
        ask_for_mail(invitation=offer, site=request.build_absolute_uri("/"))
        return Response(InvitationRow(offer).data)


class InvitationView(ApiView):
    """An invitation."""

    about = "people"

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Withdraw an invitation; its link no longer works."""
        withdraw_invitation(invitation=invitation_in(project_for_admin(request.user, slug), pk))
        return Response(status=204)
