"""What workers do for annotate, where Celery looks: each task takes ids at most and calls one command."""

from annotate.disputes.tasks import mail_nudge, send_digests
from annotate.exports.tasks import run_export, run_push
from annotate.material.tasks import run_import
from annotate.people.tasks import mail_invitation, mail_notice
from annotate.results.tasks import compute_result
from annotate.watching.tasks import forget_acts
from annotate.webhooks.tasks import deliver

__all__ = [
    "compute_result",
    "deliver",
    "forget_acts",
    "mail_invitation",
    "mail_notice",
    "mail_nudge",
    "run_export",
    "run_import",
    "run_push",
    "send_digests",
]
