from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotate.core import access
from annotate.core.access import may_begin_projects, project_for_admin, project_of_watching_admin
from annotate.core.configuration import project_cards
from annotate.core.errors import DomainError
from annotate.core.models import Role
from annotate.core.page import (
    READERS,
    FormOutcome,
    MessageOutcome,
    Request,
    offer_choices,
    render_in_project,
    request_user,
)
from annotate.core.strings import is_for_spreadsheet
from annotate.disputes.queries.activity import waiting_for_adjudicator
from annotate.exports.commands import note_export
from annotate.exports.files import download_table
from annotate.exports.formats.text import FORMATS
from annotate.exports.registry import ExportColumn, ExportTable
from annotate.rating.commands.rounds import STEPS, set_deadline
from annotate.rating.forms import DeadlineForm
from annotate.results.reproduction.papers import paper_of
from annotate.setup.commands import delete_project
from annotate.setup.queries import counts_of_project
from annotate.watching.queries.audit import (
    COLUMNS,
    AuditChoices,
    AuditFilter,
    Cursor,
    audit_choices,
    audit_page,
    audit_rows,
)
from annotate.watching.queries.overview import overview, own_work, waiting_for


class AuditForm(forms.Form):
    """Who, what, on what, and when. Empty fields do not narrow."""

    who = forms.ChoiceField(label=_("Who"), required=False)
    what = forms.ChoiceField(label=_("What"), required=False)
    word = forms.CharField(label=_("On"), required=False, max_length=100, help_text=_("A word of its name."))
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("Until"), required=False, widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, entered: QueryDict, choices: AuditChoices) -> None:
        super().__init__(entered)
        offer_choices(self, "who", [("", gettext("anyone")), *choices.people])
        things = [(each, each.replace("_", " ")) for each in choices.things]
        offer_choices(self, "what", [("", gettext("anything")), *things])

    @property
    def wanted(self) -> AuditFilter:
        """The filter. An unreadable field does not narrow, and its error is shown."""
        self.is_valid()
        given: dict[str, Any] = self.cleaned_data
        since, until = given.get("since"), given.get("until")
        return AuditFilter(
            who=given.get("who", ""),
            what=given.get("what", ""),
            word=given.get("word", "").strip(),
            since=_midnight(since) if since else None,
            # That day is included.
            until=_midnight(until) + timedelta(days=1) if until else None,
        )


class DeletionForm(forms.Form):
    """The project's name, typed."""

    name = forms.CharField(
        label=_("Type the project's name to delete it"), widget=forms.TextInput(attrs={"autocomplete": "off"})
    )


def _midnight(day: date) -> datetime:
    # UTC may have no such moment on the first or last day of the calendar. No act is that old or that new.
    day = min(max(day, date(1000, 1, 1)), date(9000, 1, 1))
    return timezone.make_aware(datetime.combine(day, time.min))


# The audit log of a project, and deleting the project.

SAYS = "everything that was done in a project: who, when, before and after"


@login_required
@require_GET
def projects(request: HttpRequest) -> HttpResponse:
    cards = [
        (
            card,
            waiting_for(card.as_annotator, card.rounds) if card.as_annotator else None,
            waiting_for_adjudicator(card.project) if card.adjudicates else None,
        )
        for card in project_cards(request.user)
    ]
    context = {"cards": cards, "may_begin": may_begin_projects(request.user)}
    return render(request, "watching/projects.html", context)


@login_required
@require_GET
def audit(request: Request, slug: str) -> HttpResponse:
    project = project_of_watching_admin(request.user, slug)
    form = AuditForm(request.GET, audit_choices(project))
    page = audit_page(project, form.wanted, Cursor.read(request.GET.get("after", "")))
    query = request.GET.copy()
    query.pop("after", None)
    context = {"form": form, "page": page, "query": query.urlencode(), "formats": list(FORMATS)}
    context["kept_days"] = settings.AUDIT_DAYS
    return render_in_project(request, project, "watching/audit.html", context)


@login_required
@require_GET
def audit_download(request: Request, slug: str, format: str) -> StreamingHttpResponse:
    """Stream all entries of the page's filter, the oldest first."""
    project = project_of_watching_admin(request.user, slug)
    if format not in FORMATS:
        raise Http404(gettext("There is no such format."))
    wanted = AuditForm(request.GET, audit_choices(project)).wanted
    note_export(project=project, what="audit log", format=format)
    table = ExportTable(
        "audit", SAYS, tuple(map(ExportColumn, COLUMNS)), lambda project: audit_rows(project, wanted)
    )
    return download_table(project, table, "audit", format, defuses_formulas=is_for_spreadsheet(request.GET))


@login_required
@require_http_methods(["GET", "POST"])
def project_delete(request: Request, slug: str) -> HttpResponse:
    """Show the effects of deleting the project, and offer its export; a POST with its name deletes it."""
    project = project_for_admin(request.user, slug)
    form = DeletionForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            delete_project(project=project, name=form.cleaned_data["name"], by=request_user(request))
            messages.success(request, gettext("“{name}” was deleted.").format(name=project.name))
            return redirect("projects")
        except DomainError as error:
            form.add_error("name", error.message)
    context = {"form": form, "counts": counts_of_project(project), "formats": list(FORMATS)}
    context["additions"] = list(project.additions.order_by("number").values_list("project__name", flat=True))
    status = 422 if form.is_bound else 200
    return render_in_project(request, project, "setup/delete.html", context, status=status)


# A project's first page, agreement until now, and opening, closing and timing its rounds.


@login_required
@require_GET
def project(request: HttpRequest, slug: str) -> HttpResponse:
    """Show this person's open tasks: the state of the rounds to admins, own work to annotators."""
    membership = access.membership(request.user, slug)
    roles = access.roles_in(request.user, membership.project)
    is_admin = Role.ADMIN in roles
    context: dict[str, object] = {"is_admin": is_admin}
    if Role.ANNOTATOR in roles:
        context["own"] = own_work(access.membership(request.user, slug, Role.ANNOTATOR))
    if Role.ADJUDICATOR in roles:
        context["to_decide"] = waiting_for_adjudicator(membership.project)
    if roles & READERS:
        context["overview"] = overview(membership.project, for_admin=is_admin)
        context["may_see_values"] = Role.ANNOTATOR not in roles or not access.rates_independently(
            request.user, membership.project
        )
        context["paper"] = paper_of(membership.project)
    return render_in_project(request, membership.project, "watching/project.html", context)


@login_required
@require_GET
def round_one(request: HttpRequest, slug: str) -> HttpResponse:
    """Show Round I to admins and researchers: its next step, deadline, progress by annotator, and alpha."""
    membership = access.membership(request.user, slug, Role.ADMIN, Role.RESEARCHER)
    is_admin = membership.role == Role.ADMIN
    context = {
        "is_admin": is_admin,
        "overview": overview(membership.project, for_admin=is_admin),
        "may_see_values": not access.rates_independently(request.user, membership.project),
    }
    return render_in_project(request, membership.project, "watching/round_one.html", context)


@login_required
@require_POST
def step(request: HttpRequest, slug: str, step: str) -> HttpResponse:
    project = access.project_for_admin(request.user, slug)
    command, done = STEPS[step]
    with MessageOutcome(request):
        command(project=project, by=request_user(request))
        messages.success(request, gettext(done))
    return redirect("project", slug)


@login_required
@require_http_methods(["GET", "POST"])
def deadline(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    project = access.project_for_admin(request.user, slug)
    round = access.round_in(project, number)
    form = DeadlineForm(request.POST or None, initial={"deadline": round.deadline})
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            set_deadline(round=round, deadline=form.cleaned_data["deadline"], by=request_user(request))
            messages.success(request, gettext("The deadline is saved; raters see it with their work."))
            return redirect("project", slug)
    return render_in_project(
        request, project, "watching/deadline.html", {"form": form, "round": round}, status=outcome.status
    )
