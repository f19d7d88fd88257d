"""The download of all that is stored about a person. Programs read it, so its keys are stable."""

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain, repeat
from operator import or_
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, Q, QuerySet

from annotate.core.models import (
    AccountMail,
    Acknowledgement,
    ApiToken,
    Assignment,
    AuditEntry,
    CountingDecision,
    DisputeDigest,
    DisputeEvent,
    FormerName,
    Invitation,
    KeptAnswer,
    Membership,
    Notice,
    Nudge,
    OutsideRater,
    Post,
    PracticeAnswer,
    Preferences,
    PrivateNote,
    RatingChange,
    RecordedName,
    SavedTemplate,
    User,
)

BATCH = 2_000


def data_as_json(user: User) -> Iterator[str]:
    """Yield all stored data about a person as JSON, for that person. A fixed number of queries.

    It contains their own values and comments, and no system names, because annotators do not see them. It
    comes row by row: all ratings of a person can be more than memory should hold.
    """
    encode = DjangoJSONEncoder(ensure_ascii=False).encode
    for before, (name, kept) in zip(chain("{", repeat(",")), _collect_sections(user).items(), strict=False):
        yield f"{before}\n {encode(name)}: "
        if isinstance(kept, dict):
            yield encode(kept)
        else:
            # The first row comes without a comma; `next` has a default for a section without rows.
            rows = (encode(row) for row in kept.iterator(BATCH))
            yield from chain(("[\n  ", next(rows, "")), (f",\n  {row}" for row in rows), ("\n ]",))
    yield "\n}\n"


def _collect_sections(user: User) -> dict[str, dict[str, Any] | QuerySet[Any, Any]]:
    """Return the sections. They omit round and plan, so that no section reveals a hidden check."""
    memberships = Membership.objects.filter(user=user)
    former = FormerName.objects.filter(user=user)
    # Invitations to former e-mails are about the same person.
    invited = sent_to([user.email, *former.values_list("email", flat=True)]) | Q(accepted_by=user)
    of_membership = {"project_name": F("membership__project__slug")}
    of_rater = {"project_name": F("annotator__project__slug")}
    return {
        "account": {
            **{"email": user.email, "name": user.name, "since": user.date_joined},
            **{"last_sign_in": user.last_login, "operator": user.is_staff},
        },
        "addresses": _rows(EmailAddress.objects.filter(user=user), "email", "verified"),
        "former_names": _rows(former, "at", "name", "email"),
        "preferences": _rows(Preferences.objects.filter(user=user)),
        "notices": _rows(
            Notice.objects.filter(user=user), "at", "kind", "mailed_at", project_name=F("project__slug")
        ),
        # Only the time, because a mail can contain a link that opens the account.
        "mails": _rows(AccountMail.objects.filter(user=user), "asked_at"),
        "digests": _rows(DisputeDigest.objects.filter(user=user)),
        "sessions": _rows(
            UserSession.objects.filter(user=user), "created_at", "last_seen_at", "ip", "user_agent"
        ),
        "identities": _rows(
            SocialAccount.objects.filter(user=user), "provider", "uid", "date_joined", "extra_data"
        ),
        "second_factors": _rows(
            *(Authenticator.objects.filter(user=user), "type", "created_at", "last_used_at"),
            name=F("data__name"),
        ),
        "tokens": _rows(
            ApiToken.objects.filter(user=user),
            *("name", "beginning", "may_read", "may_write", "may_rate"),
            *("created_at", "expires_at", "used_at", "revoked_at"),
        ),
        "kept_answers": _rows(KeptAnswer.objects.filter(token__user=user), "at", "key", "status", "content"),
        "templates": _rows(SavedTemplate.objects.filter(owner=user), "name", "content", "saved_at"),
        "invitations": _rows(
            Invitation.objects.filter(invited),
            *("email", "role", "note", "created_at", "accepted_at", "withdrawn_at"),
            project_name=F("project__slug"),
        ),
        "acts": _rows(
            AuditEntry.objects.filter(actor=user).order_by("at", "pk"),
            *("at", "act", "subject", "before", "after", "note"),
            project_name=F("project__slug"),
        ),
        "memberships": _rows(
            memberships,
            *("role", "label", "alias", "pseudonym", "joined_at", "active", "counted", "practised_at"),
            project_name=F("project__slug"),
        ),
        "outside": _rows(
            OutsideRater.objects.filter(membership__in=memberships),
            *("parameters", "consented_at", "consent_digest", "answers", "outcome", "ended_at"),
            **of_membership,
        ),
        "recorded_names": _rows(
            RecordedName.objects.filter(membership__in=memberships), "name", **of_membership
        ),
        "counting_decisions": _rows(
            CountingDecision.objects.filter(membership__in=memberships),
            "at",
            "counted",
            "note",
            **of_membership,
        ),
        "assignments": _rows(
            # The order of primary keys would reveal outputs of the same system.
            Assignment.objects.filter(annotator__in=memberships).order_by("annotator", "position"),
            *("position", "started_at", "completed_at"),
            document=F("item__document__key"),
            **of_rater,
        ),
        "ratings": _rows(
            RatingChange.objects.filter(rating__assignment__annotator__in=memberships).order_by("at", "pk"),
            *("at", "cause", "value_before", "value_after", "unsure", "cannot_rate", "not_applicable"),
            *("comment", "short_reason", "evidence"),
            project_name=F("rating__assignment__round__project__slug"),
            document=F("rating__assignment__item__document__key"),
            dimension=F("rating__dimension__key"),
            active_seconds=F("rating__active_seconds"),
        ),
        "practice_answers": _rows(
            PracticeAnswer.objects.filter(membership__in=memberships),
            *("at", "attempt", "value", "unsure", "cannot_rate", "not_applicable", "comment", "evidence"),
            document=F("gold_value__gold__item__document__key"),
            dimension=F("gold_value__dimension__key"),
            **of_membership,
        ),
        "acknowledgements": _rows(
            Acknowledgement.objects.filter(annotator__in=memberships), "at", **of_rater
        ),
        "dispute_answers": _rows(
            *(DisputeEvent.objects.filter(actor=user), "at", "kind", "value", "note"),
            dispute_number=F("dispute__number"),
            project_name=F("dispute__round__project__slug"),
        ),
        "posts": _rows(
            Post.objects.filter(author__in=memberships), "at", "text", project_name=F("author__project__slug")
        ),
        "nudges": _rows(
            Nudge.objects.filter(rater__in=memberships),
            *("at", "disputes", "mailed_at"),
            project_name=F("rater__project__slug"),
        ),
        "private_notes": _rows(
            PrivateNote.objects.filter(annotator__in=memberships), "text", document=F("item__document__key")
        ),
        "other_rows": _other_rows(user, memberships),
    }


# Tables with a separate section for all rows about a person.
IN_SECTIONS = {
    *(FormerName, EmailAddress, Preferences, Notice, AccountMail, DisputeDigest, UserSession, SocialAccount),
    *(Authenticator, ApiToken, SavedTemplate, AuditEntry, Membership, RecordedName, Assignment, RatingChange),
    *(PracticeAnswer, Acknowledgement, DisputeEvent, Post, PrivateNote),
    OutsideRater,
}


def _other_rows(user: User, memberships: QuerySet[Membership]) -> dict[str, Any]:
    """Return the numbers of all other rows that refer to a person, by table and column."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        # Tables without a section, also of other apps, can still contain data about the person.
        for field in model._meta.fields if model not in IN_SECTIONS else ():
            whose = {User: Q(**{field.name: user}), Membership: Q(**{f"{field.name}__in": memberships})}
            if field.related_model in whose:
                rows = model._default_manager.filter(whose[field.related_model]).order_by("pk")
                found[f"{model._meta.db_table}.{field.name}"] = list(rows.values_list("pk", flat=True))
    return found


def _rows(rows: QuerySet[Any], *names: str, **others: F) -> QuerySet[Any, Any]:
    return rows.values(*names, **others)


def sent_to(addresses: Iterable[str]) -> Q:
    return reduce(or_, (Q(email__iexact=address) for address in addresses))
