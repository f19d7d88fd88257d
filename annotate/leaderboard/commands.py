import math
from collections.abc import Mapping
from contextlib import suppress
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotate.additions.commands import add_systems, invite_first_raters
from annotate.core.audit import record
from annotate.core.errors import DomainError, InvalidValueError, NotReadyError
from annotate.core.mails import mail_is_sent
from annotate.core.models import Addition, Project, PublicLeaderboard, Submission, System, User
from annotate.core.models.living import new_public_key
from annotate.core.models.material import text_digest
from annotate.leaderboard.queries import documents_with_outputs
from annotate.people.mails import post_account_mail
from annotate.people.sign_in_limits import Limit, count_attempt, longest_wait

MOST_WAITING = 50
MOST_OF_CONTACT = 5  # that wait, of one e-mail
DECIDED_WITHIN = timedelta(days=90)
OUTPUTS_KEPT = timedelta(days=30)  # of a rejected submission
LONGEST_OUTPUT = 100_000  # characters
LARGEST = 20 * 1024 * 1024  # bytes of one submission
LISTED = 5  # documents that a message names
PER_ADDRESS = (Limit("submissions", 5, timedelta(hours=1)), Limit("submissions", 10, timedelta(days=1)))
Status = Submission.Status


class AlreadySubmittedError(DomainError):
    """The same outputs were submitted before, by another person or for another system."""

    code = "already_submitted"
    status = 409


class DecidedError(DomainError):
    """The submission has been accepted or rejected already."""

    code = "decided"
    status = 409


def publish(
    *,
    project: Project,
    is_public: bool,
    shows_texts: bool,
    shows_effort: bool,
    takes_submissions: bool,
    metadata_names: list[str],
    introduction: str,
    by: User | None,
) -> PublicLeaderboard:
    """Change the content of a project's public page, and whether it exists. The key remains."""
    if takes_submissions and not is_public:
        raise InvalidValueError(
            gettext("Submissions need a public page."),
            fields={"takes_submissions": gettext("Publish the page as well.")},
        )
    if is_public and (project.calibrates_id or Addition.objects.filter(project=project).exists()):
        raise NotReadyError(
            gettext("An addition or a calibration session has no public page. Publish its benchmark instead.")
        )
    after = {
        "is_public": is_public,
        "shows_texts": shows_texts,
        "shows_effort": shows_effort,
        "takes_submissions": takes_submissions,
        "metadata_names": metadata_names,
        "introduction": introduction,
    }
    with transaction.atomic():
        # A row must exist before it can be locked.
        PublicLeaderboard.objects.get_or_create(project=project)
        shown = PublicLeaderboard.objects.select_for_update().get(project=project)
        before = {name: getattr(shown, name) for name in after}
        for name, value in after.items():
            setattr(shown, name, value)
        shown.save(update_fields=list(after))
        record(project, "leaderboard.changed", project.name, before=before, after=after, by=by)
    return shown


@transaction.atomic
def replace_key(*, project: Project, by: User | None) -> PublicLeaderboard:
    """Give a public page another link, such as after the first one leaked. The old link is not found."""
    shown = PublicLeaderboard.objects.select_for_update().filter(project=project).first()
    if shown is None:
        raise NotReadyError(gettext("There is no public page."))
    shown.key = new_public_key()
    shown.save(update_fields=["key"])
    record(project, "leaderboard.link_replaced", project.name, by=by)
    return shown


class TooManySubmissionsError(DomainError):
    """An IP has reached its maximum of submissions. wait: seconds until the next one is possible."""

    code = "too_many_requests"
    status = 429

    def __init__(self, limit: Limit, wait: timedelta) -> None:
        self.wait = max(1, math.ceil(wait.total_seconds()))
        message = (
            gettext("An IP address has {most} submissions a day. Try again in {minutes} minutes.")
            if limit.within >= timedelta(days=1)
            else gettext("An IP address has {most} submissions an hour. Try again in {minutes} minutes.")
        )
        super().__init__(message.format(most=limit.most, minutes=math.ceil(self.wait / 60)))


def submit_outputs(
    *,
    shown: PublicLeaderboard,
    system: str,
    contact: str,
    note: str,
    outputs: Mapping[str, str],
    address: str = "",
) -> Submission:
    """Store outputs of a new system, by document key, until an admin decides.

    The same outputs for the same system and contact are stored once. `address`: the sender's IP, for which
    usable outputs count. Raises InvalidValueError unless each document has exactly one output,
    AlreadySubmittedError for outputs of another submission, NotReadyError if the page accepts none or many
    are pending, TooManySubmissionsError if the IP has sent many. Locks the public page.
    """
    if not (shown.is_public and shown.takes_submissions):
        raise NotReadyError(gettext("This benchmark takes no submissions."))
    project = shown.project
    _refuse_text(gettext("The system’s name"), system)
    _refuse_text(gettext("The note"), note)
    projects = [project.pk, *Addition.objects.filter(benchmark=project).values_list("project", flat=True)]
    if System.objects.filter(project__in=projects, name__iexact=system).exists():
        raise InvalidValueError(
            gettext("The benchmark has a system of this name. Choose another one."),
            fields={"system": gettext("Choose another name.")},
        )
    _refuse_outputs(project, outputs)
    if address:
        counters = [limit.of(address) for limit in PER_ADDRESS]
        if not count_attempt(counters):
            limit, wait = longest_wait(counters) or (PER_ADDRESS[0], timedelta(minutes=1))
            raise TooManySubmissionsError(limit, wait)
    digest = text_digest(sorted(outputs.items()))
    with transaction.atomic():
        # The page's lock lets one submission after the other in, so that each counts all earlier ones.
        PublicLeaderboard.objects.select_for_update().get(pk=shown.pk)
        # An accepted submission whose addition was removed counts no longer.
        standing = Q(status=Status.WAITING) | Q(addition__isnull=False)
        same = project.submissions.filter(standing, digest=digest).first()
        if same is None:
            _refuse_too_many_waiting(project, contact)
            return Submission.objects.create(
                project=project,
                system=system,
                contact=contact,
                note=note,
                outputs=dict(outputs),
                digest=digest,
            )
    if same.system != system or same.contact.casefold() != contact.casefold():
        raise AlreadySubmittedError(gettext("These outputs have been submitted already."))
    return same


def _refuse_too_many_waiting(project: Project, contact: str) -> None:
    waiting = project.submissions.filter(status=Status.WAITING)
    if waiting.filter(contact__iexact=contact).count() >= MOST_OF_CONTACT:
        message = gettext("An e-mail has at most {most} submissions that wait for a decision.")
        message = message.format(most=MOST_OF_CONTACT)
        raise InvalidValueError(message, fields={"contact": message})
    if waiting.count() >= MOST_WAITING:
        raise NotReadyError(gettext("Many submissions wait for a decision. Try again in some days."))


def _refuse_text(what: str, text: str) -> None:
    """Raise InvalidValueError for a string with characters that no database or page can show."""
    if any(each < " " and each not in "\n\r\t" for each in text) or any(
        "\ud800" <= each <= "\udfff" for each in text
    ):
        raise InvalidValueError(gettext("{what} contains control characters.").format(what=what))


def _refuse_outputs(project: Project, outputs: Mapping[str, str]) -> None:
    """Raise InvalidValueError unless there is exactly one usable output for each document. One query."""
    expected = set(documents_with_outputs(project).values_list("key", flat=True))
    unknown, missing = sorted(set(outputs) - expected), sorted(expected - set(outputs))
    # First the documents, then the outputs.
    if unknown:
        message = ngettext(
            "{count} document is not in this benchmark: {names}.",
            "{count} documents are not in this benchmark: {names}.",
            len(unknown),
        )
        raise InvalidValueError(message.format(count=len(unknown), names=_list(unknown)))
    if missing:
        message = ngettext(
            "{count} document has no output: {names}.",
            "{count} documents have no output: {names}.",
            len(missing),
        )
        raise InvalidValueError(message.format(count=len(missing), names=_list(missing)))
    # Each output by itself, then all of them together.
    total = 0
    for key, text in outputs.items():
        what = gettext("The output for {key}").format(key=key[:80])
        if not text.strip():
            raise InvalidValueError(gettext("{what} is empty.").format(what=what))
        if len(text) > LONGEST_OUTPUT:
            message = gettext("{what} is longer than {most:,} characters.")
            raise InvalidValueError(message.format(what=what, most=LONGEST_OUTPUT))
        _refuse_text(what, text)
        total += len(text.encode())
    if total > LARGEST:
        message = gettext("The outputs are larger than {most} MiB.")
        raise InvalidValueError(message.format(most=LARGEST // 1024**2))


def _list(names: list[str]) -> str:
    # A lone surrogate, which JSON may contain, cannot be part of a response.
    listed = ", ".join(name[:80].encode(errors="replace").decode() for name in names[:LISTED])
    return f"{listed}, …" if len(names) > LISTED else listed


def accept_submission(
    *, submission: Submission, bridging: int, by: User, with_annotators: bool = False
) -> Submission:
    """Make an addition of submitted outputs, and mail the submitter. Raises DecidedError if it is decided.

    with_annotators: whether the benchmark's annotators rate it.
    """
    with transaction.atomic():
        locked = _lock(submission, Status.ACCEPTED)
        if locked.status == Status.ACCEPTED:
            return locked
        locked.addition = add_systems(
            project=locked.project, outputs={locked.system: locked.outputs}, bridging=bridging, by=by
        )
        if with_annotators:
            invite_first_raters(addition=locked.addition, by=by)
        _decide(locked, Status.ACCEPTED, by)
    return locked


def reject_submission(*, submission: Submission, reason: str, by: User | None) -> Submission:
    """Reject a submission with a reason, and mail the submitter. Raises DecidedError if it is accepted."""
    if not reason.strip():
        raise InvalidValueError(gettext("Give a reason."), fields={"reason": gettext("Give a reason.")})
    with transaction.atomic():
        locked = _lock(submission, Status.REJECTED)
        if locked.status == Status.REJECTED:
            return locked
        locked.reason = reason.strip()
        _decide(locked, Status.REJECTED, by)
    return locked


def age_out_submissions() -> None:
    """Reject submissions that waited for 90 days, and remove outputs of those rejected 30 days ago.

    So junk does not fill the queue for ever. Safe to run twice, and by several workers.
    """
    now = timezone.now()
    old = Submission.objects.filter(status=Status.WAITING, at__lt=now - DECIDED_WITHIN).defer("outputs")
    reason = gettext("No admin decided within {days} days.").format(days=DECIDED_WITHIN.days)
    for each in old.order_by("pk"):
        with suppress(DecidedError):  # an admin has accepted it meanwhile
            reject_submission(submission=each, reason=reason, by=None)
    rejected = Submission.objects.filter(status=Status.REJECTED, decided_at__lt=now - OUTPUTS_KEPT)
    rejected.exclude(outputs={}).update(outputs={})


def _lock(submission: Submission, wanted: str) -> Submission:
    locked = (
        Submission.objects.select_for_update(of=("self",)).select_related("project").get(pk=submission.pk)
    )
    if locked.status not in (Status.WAITING, wanted):
        raise DecidedError(gettext("This submission has been decided already."))
    return locked


def _decide(locked: Submission, status: str, by: User | None) -> None:
    locked.status, locked.decided_at, locked.decided_by = status, timezone.now(), by
    locked.save(update_fields=["status", "reason", "addition", "decided_at", "decided_by"])
    record(
        locked.project,
        f"submission.{status}",
        locked.system,
        after={"submission": locked.pk, "reason": locked.reason},
        by=by,
    )
    # Within the transaction, so a mail is queued only if the decision is stored.
    if mail_is_sent():
        names = {"system": locked.system, "project": locked.project.name}
        if status == Status.ACCEPTED:
            subject = gettext("Your submission {system} to {project} is accepted")
            body = gettext("People rate its outputs. It appears on the leaderboard in a later version.")
        else:
            subject = gettext("Your submission {system} to {project} is rejected")
            body = gettext("Reason: {reason}").format(reason=locked.reason)
        post_account_mail(user=None, to=locked.contact, subject=subject.format(**names), body=f"{body}\n")
