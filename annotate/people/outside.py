"""Raters from outside: one open link to a project, and the accounts that it makes. See decision 40."""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext

from annotate.core.audit import digest_of, facts, record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvitationUnusableError
from annotate.core.models import Membership, OutsideRater, OutsideStudy, Project, Role, User
from annotate.core.models.outside import new_join_token
from annotate.people.commands import add_member

OUTSIDE = "outside.invalid"  # the domain of accounts that get no mail
NAME, LABEL = "Rater", "Outside rater"
PERSON, STUDY, SESSION = "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"
MOST_PARAMETERS, LONGEST_NAME, LONGEST_VALUE = 20, 60, 200

SETTINGS = (
    *("is_open", "consent", "questions", "most_raters", "items_per_rater"),
    *("completion_code", "completion_url", "screened_code", "screened_url"),
    *("pay_rule", "pay_rate", "currency"),
)


@dataclass(frozen=True)
class Consent:
    """A person's agreement: the SHA-256 of the consent form, and the time."""

    digest: str
    at: datetime


@dataclass(frozen=True)
class StudyCounts:
    """Numbers of raters of a study, by outcome."""

    joined: int
    completed: int
    screened_out: int

    @property
    def working(self) -> int:
        return self.joined - self.completed - self.screened_out


def study_of(project: Project) -> OutsideStudy | None:
    """Return the study of a project; None if no admin has saved one. One query."""
    return OutsideStudy.objects.filter(project=project).first()


def study_of_link(token: str) -> OutsideStudy | None:
    """Return the study of a link. One query."""
    return OutsideStudy.objects.select_related("project").filter(token=token).first()


def count_raters(study: OutsideStudy) -> StudyCounts:
    """Return the counts of a study. One query."""
    outcome = OutsideRater.Outcome
    return StudyCounts(
        **study.raters.aggregate(
            joined=Count("pk"),
            completed=Count("pk", filter=Q(outcome=outcome.COMPLETED)),
            screened_out=Count("pk", filter=Q(outcome=outcome.SCREENED_OUT)),
        )
    )


def read_parameters(query: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return a link's parameters: up to 20, the platform's three first.

    The first of two values counts. Long names and values are dropped: a cut ID could be another person's.
    """
    given: dict[str, str] = {}
    for name, value in query:
        if name not in given and len(name) <= LONGEST_NAME and 0 < len(value) <= LONGEST_VALUE:
            given[name] = value
    # First, so that the maximum number of parameters never cuts them off.
    usual = {name: given[name] for name in (PERSON, STUDY, SESSION) if name in given}
    clean = {name: value for name, value in {**usual, **given}.items() if "\0" not in name + value}
    return dict(list(clean.items())[:MOST_PARAMETERS])


def rater_of_person(study: OutsideStudy, person: str) -> OutsideRater | None:
    """Return the rater with this ID of the platform, if any. One query."""
    raters = study.raters.select_related("membership__user", "membership__project")
    # Raters without an ID all have an empty one, which identifies no one.
    return raters.filter(platform_id=person).first() if person else None


def rater_of_account(study: OutsideStudy, user: User) -> OutsideRater | None:
    """Return the rater of a study with this account, if any. One query."""
    return study.raters.select_related("membership").filter(membership__user=user).first()


def is_outside_account(user: User) -> bool:
    return user.email.endswith(f"@{OUTSIDE}")


def is_same_session(rater: OutsideRater, parameters: Mapping[str, str]) -> bool:
    """Return True if a link has the same session of the platform as the rater's first visit.

    The ID of a person is no proof: researchers and other studies know it.
    """
    known, sent = (
        [each.get(name, "") for name in (STUDY, SESSION)] for each in (rater.parameters, parameters)
    )
    # Without a session of the platform, two empty values would be equal.
    return bool(known[1]) and constant_time_compare("\n".join(known), "\n".join(sent))


def refuse_closed_study(study: OutsideStudy) -> None:
    """Raise InvitationUnusableError unless another rater may join. One query."""
    if not study.is_open:
        raise InvitationUnusableError(
            gettext("This study takes no more raters. Thank you for your interest.")
        )
    if study.raters.count() >= study.most_raters:
        raise InvitationUnusableError(gettext("This study has all its raters. Thank you for your interest."))


@transaction.atomic
def join_study(
    *, study: OutsideStudy, consent: Consent, parameters: Mapping[str, str], answers: list[dict[str, str]]
) -> User:
    """Create an account and an annotator's membership for a person who agreed; return the account.

    Locks the project. Raises InvitationUnusableError if the study is closed or full, the person has joined
    already, or the consent form has changed.
    """
    lock_project(study.project)
    # After the lock: an admin may have closed the study or changed its form since the page loaded.
    study.refresh_from_db()
    # The lock makes the count of raters exact: no one joins between the count and the new row.
    refuse_closed_study(study)
    person = parameters.get(PERSON, "")
    # The same person may have joined in another tab, or an admin changed the form that the person read.
    if rater_of_person(study, person) or consent.digest != digest_of(study.consent):
        raise InvitationUnusableError(gettext("This page is out of date. Open the link of the study again."))
    # No password and no mailbox: only the link of the study and the session sign in.
    user = User.objects.create_user(f"rater-{secrets.token_hex(8)}@{OUTSIDE}", None, name=NAME)
    membership = add_member(project=study.project, role=Role.ANNOTATOR, user=user, label=LABEL)
    OutsideRater.objects.create(
        study=study,
        membership=membership,
        platform_id=person,
        parameters=dict(parameters),
        consented_at=consent.at,
        consent_digest=consent.digest,
        answers=answers,
    )
    return user


@transaction.atomic
def save_study(*, project: Project, values: Mapping[str, Any], by: User) -> OutsideStudy:
    """Save a study's settings. The audit log keeps earlier consent forms. Locks the project."""
    lock_project(project)
    study = study_of(project) or OutsideStudy(project=project)
    before = facts(study, SETTINGS) if study.pk else {}
    for name in SETTINGS:
        setattr(study, name, values[name])
    study.save()
    record(
        project, "outside.changed", "raters from outside", before=before, after=facts(study, SETTINGS), by=by
    )
    return study


@transaction.atomic
def renew_join_link(*, study: OutsideStudy, by: User) -> None:
    """Give a study another link; the old one ends. Locks the project."""
    lock_project(study.project)
    OutsideStudy.objects.filter(pk=study.pk).update(token=new_join_token())
    record(study.project, "outside.link_renewed", "raters from outside", by=by)


def forget_platform(memberships: Iterable[Membership]) -> None:
    """Delete the parameters and answers of raters from outside, in the caller's transaction."""
    OutsideRater.objects.filter(membership__in=memberships).update(platform_id="", parameters={}, answers=[])


def consent_now(study: OutsideStudy) -> Consent:
    """Return a consent with the current time and the study's current form."""
    return Consent(digest_of(study.consent), timezone.now())
