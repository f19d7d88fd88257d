"""What an admin does with many disputes at once: the rules that open them, and nudging who they wait for."""

from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotate import access, tasks
from annotate.commands.dispute_rules import set_dispute_rules
from annotate.commands.nudges import Nudged, nudge_raters
from annotate.errors import DomainError
from annotate.forms.dispute_rules import DisputeRulesForm
from annotate.forms.disputes import DisputeFilterForm
from annotate.invitation_mail import mail_is_sent
from annotate.models import Membership
from annotate.queries.dispute_list import waited_for_in
from annotate.queries.dispute_rules import rule_previews
from annotate.queries.rounds import rounds_of
from annotate.views.page import refusal_told, render_in_project, request_user


@login_required
@require_http_methods(["GET", "POST"])
def dispute_rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and set how far apart values open a dispute, with how many each threshold would open now."""
    project = access.project_for_admin(request.user, slug)
    round = rounds_of(project).get(1)
    may_see_values = not access.rates_independently(request.user, project)
    previews = rule_previews(project, round if may_see_values else None)
    frozen = round is not None and not round.is_open
    form = DisputeRulesForm(request.POST or None, project=project, previews=previews, frozen=frozen)
    status = 422 if request.method == "POST" else 200
    try:
        if request.method == "POST" and form.is_valid():
            set_dispute_rules(project=project, rule=form.rule, own=form.own, by=request_user(request))
            messages.success(request, gettext("The rules are saved; they hold when Round I is closed."))
            return redirect("dispute_rules", slug)
    except DomainError as error:
        form.add_error(None, error.message)
        status = error.status
    context = {
        "form": form,
        "rows": list(form.rows(previews)),
        "round": round,
        "frozen": frozen,
        "may_see_values": may_see_values,
    }
    return render_in_project(request, project, "disputes/rules.html", context, status=status)


@login_required
@require_POST
def dispute_nudge(request: HttpRequest, slug: str) -> HttpResponse:
    """Nudge the raters whom the disputes that are shown wait for."""
    project = access.project_for_admin(request.user, slug)
    form = DisputeFilterForm(request.POST, project=project)
    round_two = rounds_of(project).get(2)
    with refusal_told(request):
        waiting = waited_for_in(project, form.chosen, round_two) if round_two else {}
        nudged = nudge_raters(project=project, waiting=waiting, by=request_user(request))
        link = request.build_absolute_uri(reverse("disputes", args=[slug]))
        for nudge in nudged.now:
            # Robust: without a broker the nudge stands on the rater's page all the same.
            transaction.on_commit(partial(tasks.mail_nudge.delay, nudge.pk, link), robust=True)
        messages.success(request, _told(nudged))
    return redirect(f"{reverse('disputes', args=[slug])}?{form.query}")


def _told(nudged: Nudged) -> str:
    where = "on their page and by e-mail" if mail_is_sent() else "on their page; no mail server is configured"
    now = [nudge.rater for nudge in nudged.now]
    parts = [
        f"Nudged {_names(now)}: they read it {where}." if now else "",
        f"Nudged today already: {_names(nudged.already)}." if nudged.already else "",
        f"Nobody can be reached at {_names(nudged.empty)}." if nudged.empty else "",
    ]
    return " ".join(part for part in parts if part) or "These disputes wait for nobody."


def _names(raters: list[Membership]) -> str:
    return ", ".join(rater.label for rater in raters)
