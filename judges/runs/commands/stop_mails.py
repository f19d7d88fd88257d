"""Telling who started a run, by mail, that it does not go on by itself."""

import logging

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext, override

from annotate.core.errors import MailError
from annotate.core.mails import mail_is_sent, send_mail
from annotate.core.preferences import preferences_of
from judges.core.models import Run
from judges.runs.queries.runs import untold_runs

logger = logging.getLogger(__name__)


def mail_stop(*, run: int) -> None:
    """Mail why a run stopped to who planned it, where a mail server is configured; safe to run twice.

    Call it outside any transaction. What no mail server takes now is sent later.
    """
    if not mail_is_sent() or not untold_runs().filter(pk=run).update(told_at=timezone.now()):
        return
    stopped = Run.objects.select_related("created_by", "project").get(pk=run)
    try:
        _send(stopped)
    except MailError as error:
        Run.objects.filter(pk=run).update(told_at=None)
        logger.warning("That run %s stopped is mailed later: %s", run, error.message)


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
