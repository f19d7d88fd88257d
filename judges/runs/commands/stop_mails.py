"""E-mail to the person who started a run, if the run cannot continue automatically."""

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, override

from annotate.core.mails import mail_is_sent, mail_kind, send_mail
from annotate.core.preferences import preferences_of
from judges.core.models import Run
from judges.runs.queries.runs import is_untold


def _send(run: Run) -> None:
    assert run.created_by is not None
    with override(preferences_of(run.created_by).language or settings.LANGUAGE_CODE):
        subject = gettext("Run {number} of judges in {project} is {status}").format(
            number=run.pk, project=run.project, status=run.get_status_display()
        )
        if run.resumes_until:
            until = timezone.localtime(run.resumes_until)
            next_step = gettext("It resumes by itself when the server answers before {until}.").format(
                until=f"{until:%Y-%m-%d %H:%M %Z}"
            )
        else:
            next_step = gettext("Its page among the runs of judges says more, and resumes it.")
    send_mail(to=run.created_by.email, subject=subject, body=f"{run.reason}\n\n{next_step}\n")


STOP_MAIL = mail_kind(
    "stopped_run",
    Run,
    _send,
    does="mails that a run stopped to the person who planned it",
    related=("created_by", "project"),
    mailed_at="told_at",
    condition=lambda: is_untold() if mail_is_sent() else Q(pk__in=[]),
    is_too_old=lambda _run: False,
)
