"""A project's members and invitations."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core.access import invitation_in, membership_in, project_for_admin
from annotate.core.mails import mail_is_sent
from annotate.core.models import Invitation, Membership, Project, Role
from annotate.core.page import MessageOutcome, render_in_project, request_user
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
from annotate.people.outside import study_of
from annotate.people.queries import Workload, loads_of, other_annotators, people_of
from annotate.people.recorded_raters import join_recorded_rater, possible_members
from annotate.rating.commands.assignments import HandedOver, hand_over_work


@login_required
@require_http_methods(["GET", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    form = InvitationForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        role, email = Role(form.cleaned_data["role"]), form.cleaned_data["email"]
        made = invite(project=project, by=request_user(request), role=role, email=email)
        if form.cleaned_data["send"]:
            _send(request, made)
        return _to_link(slug, made)
    return _list(request, project, form=form)


@login_required
@require_POST
def invite_several(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a link for each e-mail of a list, and optionally queue the mails."""
    project = project_for_admin(request.user, slug)
    form = InvitationsForm(request.POST)
    if not form.is_valid():
        return _list(request, project, several=form)
    chosen = form.cleaned_data
    found = invite_many(
        project=project,
        by=request_user(request),
        role=Role(chosen["role"]),
        emails=chosen["addresses"],
        note=chosen["note"],
    )
    # The invitations are stored by now: a mail that cannot be queued must not undo them.
    for offer in found.made if chosen["send"] else ():
        with MessageOutcome(request):
            ask_for_mail(invitation=offer, site=request.build_absolute_uri("/"))
    count = len(found.made)
    created = ngettext("{count} invitation created.", "{count} invitations created.", count)
    sentences = [created.format(count=count)]
    if found.members:
        sentences.append(gettext("Members already: {emails}.").format(emails=", ".join(found.members)))
    if found.waiting:
        sentences.append(gettext("Have a link that waits: {emails}.").format(emails=", ".join(found.waiting)))
    messages.success(request, " ".join(sentences))
    return redirect("people", slug)


def _list(
    request: HttpRequest,
    project: Project,
    *,
    form: InvitationForm | None = None,
    several: InvitationsForm | None = None,
) -> HttpResponse:
    form, several = form or InvitationForm(), several or InvitationsForm()
    # Both forms are on one page, and their fields have the same names.
    several.auto_id = "several_%s"
    context = {
        "form": form,
        "several": several,
        "people": people_of(project),
        "mail_is_sent": mail_is_sent(),
        "study": study_of(project),
    }
    refused = form.is_bound or several.is_bound
    return render_in_project(request, project, "people/list.html", context, status=422 if refused else 200)


@login_required
@require_GET
def person(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Show one person's membership: role, load, and candidates for their unfinished items."""
    membership = membership_in(project_for_admin(request.user, slug), pk)
    return _person(request, membership)


@login_required
@require_POST
def membership_role(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership = membership_in(project_for_admin(request.user, slug), pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _person(request, membership, role_form=form)
    with MessageOutcome(request):
        now = change_role(membership=membership, role=Role(form.cleaned_data["role"]))
        if now.pk != pk:
            sentence = gettext("{label} is now {role}; their ratings stay.")
            messages.success(request, sentence.format(label=now.label, role=now.get_role_display()))
        # Admins who change their own role may not open the page of people any more.
        if now.user_id == request.user.pk:
            return redirect("project", slug)
        return redirect("person", slug, now.pk)
    return redirect("person", slug, pk)


@login_required
@require_POST
def membership_hand_over(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership = membership_in(project_for_admin(request.user, slug), pk)
    form = HandOverForm(request.POST, others=other_annotators(membership))
    if not form.is_valid():
        return _person(request, membership, hand_over_form=form)
    with MessageOutcome(request):
        messages.success(request, _handed_over(hand_over_work(membership=membership, to=form.receivers)))
    return redirect("person", slug, pk)


@login_required
@require_POST
def membership_label(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership = membership_in(project_for_admin(request.user, slug), pk)
    form = LabelForm(request.POST)
    if not form.is_valid():
        return _person(request, membership, label_form=form)
    with MessageOutcome(request):
        rename_membership(membership=membership, label=form.cleaned_data["label"], by=request_user(request))
    return redirect("person", slug, pk)


@login_required
@require_POST
def membership_join(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership = membership_in(project_for_admin(request.user, slug), pk)
    form = JoinForm(request.POST, members=possible_members(membership.project))
    if not form.is_valid():
        return _person(request, membership, join_form=form)
    with MessageOutcome(request):
        items = join_recorded_rater(recorded=membership, member=form.chosen, by=request_user(request))
        said = ngettext(
            "{count} item that {recorded} rated belongs to {member} now.",
            "{count} items that {recorded} rated belong to {member} now.",
            items,
        )
        named = {"recorded": membership.label, "member": form.chosen.label}
        messages.success(request, said.format(count=f"{items:,}", **named))
        return redirect("person", slug, form.chosen.pk)
    return redirect("person", slug, pk)


@login_required
@require_POST
def membership_invite(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership = membership_in(project_for_admin(request.user, slug), pk)
    role, by = Role(membership.role), request_user(request)
    with MessageOutcome(request):
        made = invite(project=membership.project, by=by, role=role, membership=membership)
        return _to_link(slug, made)
    return redirect("people", slug)


@login_required
@require_POST
def membership_change(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    membership = membership_in(project_for_admin(request.user, slug), pk)
    with MessageOutcome(request):
        if "reactivate" in request.POST:
            reactivate_member(membership=membership)
        else:
            deactivate_member(membership=membership)
    return redirect("people", slug)


@login_required
@require_POST
def invitation_withdraw(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    withdraw_invitation(invitation=invitation_in(project_for_admin(request.user, slug), pk))
    messages.success(request, gettext("The invitation is withdrawn; its link no longer works."))
    return redirect("people", slug)


@login_required
@require_POST
def invitation_send(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    offer = invitation_in(project_for_admin(request.user, slug), pk)
    _send(request, offer)
    return _to_link(slug, offer)


def _send(request: HttpRequest, made: Invitation) -> None:
    with MessageOutcome(request):
        ask_for_mail(invitation=made, site=request.build_absolute_uri("/"), by_hand=True)
        sentence = gettext("A worker sends the invitation to {email}.")
        messages.success(request, sentence.format(email=made.email))


def _person(
    request: HttpRequest,
    membership: Membership,
    *,
    role_form: RoleForm | None = None,
    hand_over_form: HandOverForm | None = None,
    join_form: JoinForm | None = None,
    label_form: LabelForm | None = None,
) -> HttpResponse:
    context = {
        "membership": membership,
        "load": loads_of(membership.project).get(membership.pk, Workload()),
        "role_form": role_form or RoleForm(initial={"role": membership.role}),
        "hand_over_form": hand_over_form or HandOverForm(None, others=other_annotators(membership)),
        "join_form": join_form or JoinForm(None, members=possible_members(membership.project)),
        "label_form": label_form or LabelForm(initial={"label": membership.label}),
    }
    status = 422 if role_form or hand_over_form or join_form or label_form else 200
    return render_in_project(request, membership.project, "people/person.html", context, status=status)


def _handed_over(work: HandedOver) -> str:
    total = work.given + work.freed
    if not total:
        return gettext("There was no unfinished work to reassign.")
    moved = gettext("{given} of {total} unfinished items have another rater now.")
    parts = [moved.format(given=work.given, total=total)]
    if work.freed:
        parts.append(gettext("{count} went back to the queue.").format(count=work.freed))
    if work.begun:
        parts.append(
            gettext(
                "{count} were started: their answers stay with the first rater, the other dimensions moved."
            ).format(count=work.begun)
        )
    return " ".join(parts)


def _to_link(slug: str, made: Invitation) -> HttpResponse:
    return redirect(f"{reverse('people', args=[slug])}#invitation-{made.pk}")
