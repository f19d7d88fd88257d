"""Webhooks of a project and the log of each, for its admins."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotate.core.access import delivery_of, project_for_admin, webhook_in
from annotate.core.errors import DomainError
from annotate.core.models import Webhook
from annotate.core.page import MessageOutcome, add_refusal, render_in_project, request_user
from annotate.webhooks.commands import (
    add_webhook,
    change_webhook,
    enable_webhook,
    remove_webhook,
    renew_secret,
    send_again,
    try_webhook,
)
from annotate.webhooks.events import SHOWN, deliveries_of, webhooks_of
from annotate.webhooks.forms import WebhookForm


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """List a project's webhooks; a POST adds one and shows its secret once."""
    project = project_for_admin(request.user, slug)
    form = WebhookForm(request.POST or None)
    context: dict[str, Any] = {"form": form}
    status = 422 if request.method == "POST" else 200
    if request.method == "POST" and form.is_valid():
        try:
            made, secret = add_webhook(project=project, by=request_user(request), **form.cleaned_data)
            context, status = {"form": WebhookForm(), "made": made, "secret": secret}, 200
        except DomainError as error:
            add_refusal(form, error)
    context["webhooks"] = webhooks_of(project)
    return render_in_project(request, project, "webhooks/list.html", context, status=status)


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = webhook_in(project_for_admin(request.user, slug), pk)
    form = WebhookForm(request.POST or None, initial={"url": found.url, "events": found.events})
    if request.method == "POST" and form.is_valid():
        try:
            change_webhook(webhook=found, by=request_user(request), **form.cleaned_data)
            messages.success(request, gettext("The webhook is saved."))
            return redirect("webhook", slug, pk)
        except DomainError as error:
            add_refusal(form, error)
    return _page(request, found, form, status=422 if request.method == "POST" else 200)


@never_cache
@login_required
@require_POST
def webhook_secret(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Create a new secret and show it once."""
    found = webhook_in(project_for_admin(request.user, slug), pk)
    secret = renew_secret(webhook=found, by=request_user(request))
    form = WebhookForm(initial={"url": found.url, "events": found.events})
    return _page(request, found, form, secret=secret)


@login_required
@require_POST
def webhook_test(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = webhook_in(project_for_admin(request.user, slug), pk)
    with MessageOutcome(request):
        try_webhook(webhook=found)
        messages.success(request, gettext("Test delivery sent. Its response will appear in the log."))
    return redirect("webhook", slug, pk)


@login_required
@require_POST
def webhook_enable(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = webhook_in(project_for_admin(request.user, slug), pk)
    enable_webhook(webhook=found, by=request_user(request))
    messages.success(request, gettext("The webhook is enabled."))
    return redirect("webhook", slug, pk)


@login_required
@require_POST
def webhook_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = webhook_in(project_for_admin(request.user, slug), pk)
    remove_webhook(webhook=found, by=request_user(request))
    messages.success(request, gettext("The webhook is removed."))
    return redirect("webhooks", slug)


@login_required
@require_POST
def delivery_again(request: HttpRequest, slug: str, pk: int, delivery: int) -> HttpResponse:
    found = delivery_of(webhook_in(project_for_admin(request.user, slug), pk), delivery)
    with MessageOutcome(request):
        send_again(delivery=found)
        messages.success(request, gettext("Delivery sent again. Its response will appear in the log."))
    return redirect("webhook", slug, pk)


def _page(
    request: HttpRequest, found: Webhook, form: WebhookForm, *, secret: str = "", status: int = 200
) -> HttpResponse:
    # The page shows one less, and reports that it is not complete.
    deliveries = list(deliveries_of(found)[: SHOWN + 1])
    context = {
        "webhook": found,
        "form": form,
        "secret": secret,
        "deliveries": deliveries[:SHOWN],
        "has_more": len(deliveries) > SHOWN,
    }
    return render_in_project(request, found.project, "webhooks/webhook.html", context, status=status)
