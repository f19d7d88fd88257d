from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods

from annotate.core.access import project_for_admin
from annotate.core.mails import mail_is_sent
from annotate.core.metadata import metadata_names
from annotate.core.models import PublicLeaderboard, Submission
from annotate.core.page import FormOutcome, Request, render_in_project, request_user
from annotate.leaderboard.commands import accept_submission, publish, reject_submission, replace_key
from annotate.leaderboard.forms import AcceptSubmissionForm, PublicPageForm, RejectSubmissionForm

ON_A_PAGE = 50
LONGEST_SHOWN = 2_000  # characters of an output
OUTPUTS_SHOWN = 20


@login_required
@require_http_methods(["GET", "POST"])
def public_page(request: Request, slug: str) -> HttpResponse:
    """Show and change what the public page shows, with its link and the code that embeds it.

    A POST of `replace` gives it another link.
    """
    project = project_for_admin(request.user, slug)
    # Without a row the form shows the defaults; only `publish` creates one.
    shown = PublicLeaderboard.objects.filter(project=project).first() or PublicLeaderboard(project=project)
    names = metadata_names(project, of_items=False)
    form = PublicPageForm(request.POST if request.method == "POST" else None, shown=shown, names=names)
    with FormOutcome(request, form) as outcome:
        if "replace" in request.POST:
            replace_key(project=project, by=request_user(request))
            messages.success(request, gettext("The page has a new link. The old one is not found."))
            return redirect("public_leaderboard", slug)
        if form.is_valid():
            publish(project=project, by=request_user(request), **form.cleaned_data)
            messages.success(request, gettext("The public page is saved."))
            return redirect("public_leaderboard", slug)
    table = request.build_absolute_uri(reverse("public_embed", args=[shown.key]))
    code = '<iframe src="{}" title="{}" width="100%" height="480"></iframe>'
    context = {
        "form": form,
        "shown": shown if shown.pk and shown.is_public else None,
        "site": request.build_absolute_uri("/").rstrip("/"),
        "code": format_html(code, table, project.name),
        "version": project.versions.first(),
    }
    return render_in_project(request, project, "leaderboard/settings.html", context, status=outcome.status)


@login_required
@require_GET
def submissions(request: Request, slug: str) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    listed = project.submissions.defer("outputs").order_by("decided_at", "-pk")
    # Pending ones, the newest first; then decided ones, the latest decision first.
    waiting = [each for each in listed if each.status == Submission.Status.WAITING]
    decided = [each for each in reversed(listed) if each.status != Submission.Status.WAITING]
    page = Paginator([*waiting, *decided], ON_A_PAGE).get_page(request.GET.get("page"))
    takes = PublicLeaderboard.objects.filter(project=project, takes_submissions=True).exists()
    context = {"page": page, "takes": takes}
    return render_in_project(request, project, "leaderboard/submissions.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def submission(request: Request, slug: str, pk: int) -> HttpResponse:
    project = project_for_admin(request.user, slug)
    found = project.submissions.select_related("addition__project", "decided_by").filter(pk=pk).first()
    if found is None:
        raise Http404(gettext("There is no such submission."))
    is_rejecting = "reject" in request.POST
    accepting = AcceptSubmissionForm(request.POST if request.method == "POST" and not is_rejecting else None)
    rejecting = RejectSubmissionForm(request.POST if is_rejecting else None)
    form = rejecting if is_rejecting else accepting
    with FormOutcome(request, form) as outcome:
        if form.is_valid():
            given, by = form.cleaned_data, request_user(request)
            if is_rejecting:
                reject_submission(submission=found, reason=str(given["reason"]), by=by)
                messages.success(request, gettext("The submission is rejected."))
                return redirect("submissions", project.slug)
            done = accept_submission(
                submission=found,
                bridging=int(str(given["bridging"])),
                with_annotators=bool(given["with_annotators"]),
                by=by,
            )
            messages.success(request, gettext("The submission is accepted."))
            if done.addition is not None:
                return redirect(reverse("project", args=[done.addition.project.slug]))
            return redirect("submissions", project.slug)
    lengths = sorted(len(text) for text in found.outputs.values())
    context = {
        "submission": found,
        "accepting": accepting,
        "rejecting": rejecting,
        "is_waiting": found.status == Submission.Status.WAITING,
        "mails": mail_is_sent(),
        "outputs": [
            (key, text[:LONGEST_SHOWN]) for key, text in sorted(found.outputs.items())[:OUTPUTS_SHOWN]
        ],
        "lengths": {"least": lengths[0], "middle": lengths[len(lengths) // 2], "most": lengths[-1]}
        if lengths
        else None,
    }
    return render_in_project(request, project, "leaderboard/submission.html", context, status=outcome.status)
