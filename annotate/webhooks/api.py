"""Webhooks, and the log of their deliveries."""

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, ShownOnce, reads, writes
from annotate.core.access import delivery_of, project_for_admin, webhook_in
from annotate.core.models import Delivery, Webhook
from annotate.core.page import request_user
from annotate.webhooks.commands import (
    add_webhook,
    change_webhook,
    enable_webhook,
    remove_webhook,
    renew_secret,
    send_again,
    try_webhook,
)
from annotate.webhooks.events import deliveries_of, webhooks_of
from annotate.webhooks.forms import WebhookForm

WebhookInput = form_input("WebhookInput", WebhookForm)


class WebhookRow(serializers.ModelSerializer[Webhook]):
    """A webhook; only the reply to its creation contains its secret."""

    events = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Webhook
        fields = ("id", "url", "events", "created_at", "failing_since", "disabled_at", "disabled_because")


class NewSecret(WebhookRow):
    """A webhook with its secret, shown this once."""

    secret = serializers.CharField(
        help_text="Signs deliveries. Empty where the same request is answered again for its Idempotency-Key."
    )

    class Meta:
        model = Webhook
        fields = (*WebhookRow.Meta.fields, "secret")


class DeliveryRow(serializers.ModelSerializer[Delivery]):
    """An event sent or pending for a webhook, and the last response."""

    class Meta:
        model = Delivery
        fields = (
            *("id", "key", "event", "body", "created_at", "status", "attempts", "attempted_at", "due_at"),
            *("answer_status", "answer"),
        )


class Webhooks(ApiView):
    """The webhooks of a project."""

    about = "webhooks"

    @reads(WebhookRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List webhooks, for admins."""
        return self.page(webhooks_of(project_for_admin(request.user, slug)), WebhookRow)

    @writes(NewSecret, accepts=WebhookInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Add a webhook; only this response contains its secret."""
        project = project_for_admin(request.user, slug)
        sent = valid(WebhookForm(self.check(WebhookInput))).cleaned_data
        made, secret = add_webhook(project=project, by=request_user(request), **sent)
        return ShownOnce(WebhookRow(made).data, secret=secret, status=201)


class WebhookView(ApiView):
    """A webhook."""

    about = "webhooks"

    @reads(WebhookRow)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """Show a webhook, and the time of its first failure if it is failing."""
        return Response(WebhookRow(webhook_in(project_for_admin(request.user, slug), pk)).data)

    @writes(WebhookRow, accepts=WebhookInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Change the events or the URL."""
        webhook = webhook_in(project_for_admin(request.user, slug), pk)
        sent = valid(WebhookForm(self.check(WebhookInput))).cleaned_data
        return Response(WebhookRow(change_webhook(webhook=webhook, by=request_user(request), **sent)).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Remove a webhook with its log."""
        webhook = webhook_in(project_for_admin(request.user, slug), pk)
        remove_webhook(webhook=webhook, by=request_user(request))
        return Response(status=204)


class SecretOfWebhook(ApiView):
    """The secret of a webhook."""

    about = "webhooks"

    @writes(NewSecret)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Create a new secret, which only this response contains; the old one is invalid."""
        webhook = webhook_in(project_for_admin(request.user, slug), pk)
        secret = renew_secret(webhook=webhook, by=request_user(request))
        return ShownOnce(WebhookRow(webhook).data, secret=secret)


class EnabledWebhook(ApiView):
    """Whether a webhook receives events."""

    about = "webhooks"

    @writes(WebhookRow)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Enable a webhook that was disabled after days of failures; pending deliveries are due at once."""
        webhook = webhook_in(project_for_admin(request.user, slug), pk)
        enable_webhook(webhook=webhook, by=request_user(request))
        # The command updates the row by its key, so the object in memory still shows the old state.
        return Response(WebhookRow(webhook_in(webhook.project, pk)).data)


class Deliveries(ApiView):
    """The deliveries of a webhook."""

    about = "webhooks"

    @reads(DeliveryRow, paged=True)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """List sent and pending deliveries of a webhook, with status, attempts and the last response."""
        webhook = webhook_in(project_for_admin(request.user, slug), pk)
        return self.page(deliveries_of(webhook), DeliveryRow)

    @writes(DeliveryRow, status=201)
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Send a test delivery."""
        webhook = webhook_in(project_for_admin(request.user, slug), pk)
        return Response(DeliveryRow(try_webhook(webhook=webhook)).data, status=201)


class DeliveryAgain(ApiView):
    """A repeated delivery."""

    about = "webhooks"

    @writes(DeliveryRow)
    def post(self, request: Request, slug: str, pk: int, delivery: int) -> Response:
        """Send a delivery again, under the same key."""
        webhook = webhook_in(project_for_admin(request.user, slug), pk)
        return Response(DeliveryRow(send_again(delivery=delivery_of(webhook, delivery))).data)
