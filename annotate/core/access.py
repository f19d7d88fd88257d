"""Access: the only module that turns (user, identifier) into an object that this user may read or change.

An object that a person may not see answers 404, so that responses do not reveal its existence.
"""

from collections.abc import Sequence
from typing import TypeVar

from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.core.signing import BadSignature, Signer
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import Http404
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_noop

from annotate.core.errors import AssignmentGoneError, MembershipClosedError, NotYoursError, SignedOutError
from annotate.core.models import (
    ApiToken,
    Assignment,
    DataImport,
    Delivery,
    Dimension,
    Dispute,
    Export,
    GoldItem,
    GuidelineImage,
    Invitation,
    Item,
    Membership,
    Project,
    Role,
    Round,
    SavedTemplate,
    User,
    Webhook,
)
from annotate.core.rounds import RATED, disputes_of, raters_in
from annotate.core.strings import read_number
from annotate.fastpath.queries import NO_KEY, NUMBERS, WORD, Prepared, compile_once

SomeUser = User | AnonymousUser
Found = TypeVar("Found", bound=Model)
# Deciders and readers of disputes. Adjudicators see no other ratings.
DECIDERS = (Role.ADMIN, Role.ADJUDICATOR)
DISPUTE_READERS = (*DECIDERS, Role.RESEARCHER)
FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
_OPEN_ROUND_ONE = Q(project__rounds__number=1, project__rounds__status=Round.Status.OPEN)
DIGEST = "annotate.digest"  # The salt of the digests' tokens.


def first_or_404(candidates: "QuerySet[Found]", otherwise: str) -> Found:
    """Return the first object that this person may see. Raises Http404 with the message if there is none."""
    found = candidates.first()
    if found is None:
        raise Http404(otherwise)
    return found


def memberships_of(user: SomeUser) -> QuerySet[Membership]:
    """Return the active memberships of this person."""
    return active_memberships(user.pk)


def active_memberships(user: int | None) -> QuerySet[Membership]:
    """Return the active memberships of the user with this key.

    An anonymous user's key is None, as is the user of an empty membership. These must not match.
    """
    return Membership.objects.filter(user=user, user__isnull=False, active=True)


def projects_of(user: SomeUser) -> QuerySet[Project]:
    """Return the projects in which this person has an active membership."""
    # A person with several roles in a project would get it once for each.
    return Project.objects.filter(memberships__in=memberships_of(user)).distinct()


def membership(user: SomeUser, slug: str, *roles: Role) -> Membership:
    """Return this person's membership in the project in one of the roles. Earlier roles take precedence."""
    # A person can hold several roles in a project. The caller's order decides which membership the page uses.
    ranked = list(roles or Role)
    memberships = [each for each in _IN_PROJECT.all(user.pk or NO_KEY, slug) if each.role in ranked]
    found = sorted(memberships, key=lambda membership: ranked.index(Role(membership.role)))
    if not found:
        raise Http404(gettext("There is no such project, or it is not yours."))
    # Only the role of an admin needs the second factor; the same person rates or reads without it.
    if found[0].role == Role.ADMIN:
        others = [held for held in found if held.role != Role.ADMIN]
        if not others:
            refuse_without_second_factor(user)
        elif lacks_second_factor(user):
            return others[0]
    return found[0]


_IN_PROJECT = compile_once(
    lambda user, slug: active_memberships(user).select_related("project").filter(project__slug=slug),
    *(NUMBERS[0], WORD),
)


def lacks_second_factor(user: SomeUser) -> bool:
    """Return True if this installation requires a second factor of admins, and this person has none."""
    return settings.ADMINS_NEED_SECOND_FACTOR and not is_mfa_enabled(user, FACTORS)


def refuse_without_second_factor(user: SomeUser) -> None:
    """Raise PermissionDenied if this person lacks the second factor that admins need here."""
    if lacks_second_factor(user):
        raise PermissionDenied(
            gettext("Admins need a second factor here. Set it up under Preferences, then come back.")
        )


def sending_annotator(user: SomeUser, slug: str, membership_key: str) -> Membership:
    """Return the annotator that sends from a page; `membership_key`: the annotator that the page belongs to.

    Raises SignedOutError if the session has ended, NotYoursError if another person has signed in.
    """
    # A script needs the difference between these errors: it keeps the answers until the right person signs
    # in.
    if not user.is_authenticated:
        raise SignedOutError(gettext(SIGNED_OUT))
    found = membership(user, slug, Role.ANNOTATOR)
    if str(found.pk) != membership_key:
        raise NotYoursError(gettext(MADE_FOR_ANOTHER))
    return found


def roles_in(user: SomeUser, project: Project) -> frozenset[Role]:
    # Without the second factor an admin still keeps the other roles of the project.
    held = memberships_of(user).filter(project=project)
    if lacks_second_factor(user):
        held = held.exclude(role=Role.ADMIN)
    return frozenset(Role(role) for role in held.values_list("role", flat=True))


def project_for_admin(user: SomeUser, slug: str) -> Project:
    return membership(user, slug, Role.ADMIN).project


def project_for_reader(user: SomeUser, slug: str) -> Project:
    """Return the project if this person may read its results: admins and researchers.

    Raises PermissionDenied with a message for readers that also rate in it, until Round I is closed.
    """
    return _unless_rating(user, membership(user, slug, Role.ADMIN, Role.RESEARCHER).project)


def project_for_dispute_reader(user: SomeUser, slug: str) -> Project:
    """Return the project if this person may read all its disputes; raises as for readers of results."""
    return _unless_rating(user, membership(user, slug, *DISPUTE_READERS).project)


def dispute_for_decider(user: SomeUser, slug: str, number: int) -> Dispute:
    """Return a disputed unit if this person decides it: an admin, or an adjudicator who did not rate it."""
    own_membership = membership(user, slug, *DECIDERS)
    found = dispute_in(own_membership.project, number)
    if not decides(own_membership, membership_of_rater(user, slug, number)):
        raise PermissionDenied(gettext("You rated this unit: another adjudicator, or an admin, decides it."))
    return found


def decides(membership: Membership, as_rater: Membership | None) -> bool:
    """Return True if a membership allows deciding a dispute, given the membership that rated its unit."""
    return membership.role == Role.ADMIN or (membership.role == Role.ADJUDICATOR and as_rater is None)


def project_of_watching_admin(user: SomeUser, slug: str) -> Project:
    """Return the project if this person administers it and may see the work of others.

    Raises as for readers.
    """
    return _unless_rating(user, project_for_admin(user, slug))


def _unless_rating(user: SomeUser, project: Project) -> Project:
    if rates_independently(user, project):
        raise PermissionDenied(
            gettext(
                "You rate in this project: results are shown to you when Round I is closed, "
                "so that your ratings are independent of the others’."
            )
        )
    return project


def rates_independently(user: SomeUser, project: Project) -> bool:
    """Return True if this person annotates in an open Round I, and so must not see the values of others."""
    return memberships_of(user).filter(_OPEN_ROUND_ONE, project=project, role=Role.ANNOTATOR).exists()


def reads_results(user: SomeUser, project: Project) -> bool:
    """Return True if `project_for_reader` returns the project for this person. Two queries."""
    return project.pk in projects_with_open_results(user, [project])


def projects_with_open_results(user: SomeUser, projects: Sequence[Project]) -> set[int]:
    """Return the ids of the projects that `project_for_reader` gives this person. Two queries."""
    memberships = memberships_of(user).filter(project__in=projects)
    roles = [Role.RESEARCHER] if lacks_second_factor(user) else [Role.ADMIN, Role.RESEARCHER]
    rated = memberships.filter(_OPEN_ROUND_ONE, role=Role.ANNOTATOR).values_list("project", flat=True)
    # A reader who also rates in an open Round I must rate independently, so that project stays closed.
    return set(memberships.filter(role__in=roles).values_list("project", flat=True)) - set(rated)


def projects_open_to_readers(project: Project, others: Sequence[Project]) -> list[Project]:
    """Return the projects among `others` with results that each reader of this project may read.

    Up to three queries.

    A page of this project may show their values, because each reader of the page may read them.
    """
    readers = {Role.ADMIN, Role.RESEARCHER}
    memberships = Membership.objects.filter(active=True, user__isnull=False)
    # The people who read this project.
    own = memberships.filter(project=project, role__in=readers).select_related("user")
    users = {membership.user_id: membership.user for membership in own.order_by("pk") if membership.user}
    # Without any reader the condition on every reader would hold for each project, and reveal its values.
    if not users or not others:
        return []
    # Their roles in the other projects.
    roles: dict[tuple[int, int | None], set[str]] = {}
    theirs = memberships.filter(project__in=others, user__in=users).order_by("pk")
    for other, user, role in theirs.values_list("project", "user", "role"):
        roles.setdefault((other, user), set()).add(role)
    rated = theirs.filter(_OPEN_ROUND_ONE, role=Role.ANNOTATOR).values_list("project", flat=True)
    open_to_raters = set(rated)
    # The role of an admin is useless without the second factor that the installation requires.
    usable = {
        key: readers - {Role.ADMIN} if lacks_second_factor(user) else readers for key, user in users.items()
    }
    return [
        other
        for other in others
        if other.pk not in open_to_raters
        and all(roles.get((other.pk, key), set()) & reading for key, reading in usable.items())
    ]


def assignment_for_annotator(
    user: SomeUser, slug: str, position: int, *, membership_key: str | None = None
) -> Assignment:
    """Return the Round I assignment, or hidden check, at this position in the annotator's order.

    `membership_key`: the annotator that a page belongs to. With it the error states why the item is lost:
    NotYoursError if the membership is another person's, MembershipClosedError or AssignmentGoneError.
    """
    found = OWN_ASSIGNMENTS.all(user.pk, slug, position) if user.pk else []
    for assignment in found:
        if membership_key is None or membership_key == str(assignment.annotator_id):
            return assignment
    if membership_key is None:
        raise Http404(
            gettext("This item is not in your list; an admin may have reassigned it to another rater.")
        )
    # The page has lost its item: the membership tells the reason.
    # A request can send any string as the key, and a number beyond the column would raise in the database.
    key = read_number(membership_key) or 0
    held = Membership.objects.filter(user=user.pk, user__isnull=False, pk=key).first()
    if held is None:
        raise NotYoursError(
            gettext("This answer belongs to another person; sign in as that person to send it.")
        )
    if not held.active:
        raise MembershipClosedError(
            gettext("Your membership in this project was closed, so nothing more can be rated.")
        )
    raise AssignmentGoneError(gettext(ASSIGNMENT_GONE))


SIGNED_OUT = gettext_noop("You are signed out. Sign in to send your answers again.")
MADE_FOR_ANOTHER = gettext_noop(
    "This page belongs to another rater, so your answers were not saved. Load it again."
)
ASSIGNMENT_GONE = gettext_noop(
    "You had not started this item, so another rater has it now and further answers are not "
    "stored. Continue with the next item."
)


def _assignments(user: int, slug: str, position: int) -> QuerySet[Assignment]:
    found = Assignment.objects.select_related("annotator__project", "round__guideline")
    return found.only(*_READ).filter(
        annotator__user=user,
        annotator__active=True,
        round__project__slug=slug,
        round__number__in=Round.MET_TOGETHER,
        position=position,
    )


# What rating an item reads; the rest of these rows, read by every save, took longer than the statement.
_READ = (
    *("item", "position", "partial", "plan", "reserved_until", "started_at", "completed_at"),
    *(f"annotator__{name}" for name in ("project", "pseudonym", "practised_at")),
    *(f"annotator__project__{name}" for name in ("name", "slug", "practice_bar", "reservation_minutes")),
    *(f"round__{name}" for name in ("project", "number", "status", "seed", "guideline")),
    *("round__work_order", "round__dimension_order"),
    *(f"round__guideline__{name}" for name in ("version", "digest")),
)
OWN_ASSIGNMENTS = Prepared(_assignments, NUMBERS[0], WORD, NUMBERS[1])


def token_of(assignment: Assignment) -> str:
    """Return a token for an assignment of this annotator that reveals nothing about the item.

    A position does not work: when an unused reservation goes to another rater, another item may get that
    position. An identifier does not work either: the identifiers of a document's items follow its systems.
    """
    # The annotator is part of the token, so a reassigned item gets another token.
    held = f"{assignment.pk}/{assignment.annotator_id}"
    return salted_hmac("annotate.access.token_of", held, algorithm="sha256").hexdigest()[:20]


def membership_of_rater(user: SomeUser, slug: str, number: int) -> Membership | None:
    """Return this person's membership as a rater of a unit in Round II, None if they do not rate it."""
    # Before Round II no rater may learn which units are disputed, not even by their own membership.
    discussed = memberships_of(user).filter(project__rounds__number=2)
    return discussed.filter(pk__in=raters_in(slug, number)).first()


def refuse_another(membership: Membership, made_for: str) -> None:
    """Raise NotYoursError if the request comes from the page of another rater (an alias)."""
    if membership.alias != made_for:
        raise NotYoursError(gettext(MADE_FOR_ANOTHER))


def dispute_for_rater(membership: Membership, number: int) -> Dispute:
    """Return a disputed unit if this annotator is one of its raters and Round II has been opened."""
    return first_or_404(
        disputes_of(membership).select_related("item__document", "dimension", "round").filter(number=number),
        gettext("There is no such dispute in your list."),
    )


def dispute_in(project: Project, number: int) -> Dispute:
    """Return a disputed unit of a project whose disputes this person decides or reads."""
    return first_or_404(
        Dispute.objects.select_related("item__document", "dimension", "round").filter(
            round__project=project, number=number
        ),
        gettext("There is no such dispute."),
    )


def user_of_digest(token: str) -> User:
    """Return whose digests of disputes a link ends (see `annotate.disputes.commands.digests`)."""
    try:
        # The token does not expire, because an unsubscribe link in an old mail must work.
        found = User.objects.filter(pk=int(Signer(salt=DIGEST).unsign(token))).first()
    except (BadSignature, ValueError):
        found = None
    if found is None:
        raise Http404(gettext("This link is incomplete or comes from another installation."))
    return found


def disputes_open_to(user: SomeUser, slug: str, number: int) -> QuerySet[Dispute]:
    """Return the dispute with this number if this person may see it: a rater of its unit, or a reader."""
    # Only after Round II has opened: before that, raters must not know the spreads of Round I.
    meant = Dispute.objects.filter(round__project__slug=slug, number=number, round__project__rounds__number=2)
    memberships = memberships_of(user)
    roles = set(DISPUTE_READERS) - ({Role.ADMIN} if lacks_second_factor(user) else set())
    # Both conditions are subqueries: joins to roles and assignments would return a dispute more than once.
    read = memberships.filter(project=OuterRef("round__project"), role__in=roles)
    rated = meant.filter(RATED, item__assignments__annotator__in=memberships)
    return meant.filter(Exists(read) | Q(pk__in=rated.values("pk")))


def may_begin_projects(user: SomeUser) -> bool:
    """Return True if this person may start a project: staff and admins of any project."""
    return user.is_staff or memberships_of(user).filter(role=Role.ADMIN).exists()


def refuse_all_but_project_makers(user: SomeUser) -> None:
    """Raise Http404 unless this person may start a project."""
    if not may_begin_projects(user):
        raise Http404(gettext("Only admins create projects."))
    refuse_without_second_factor(user)


def refuse_all_but_operators(user: SomeUser) -> None:
    """Raise Http404 unless this person operates the installation: Django's staff."""
    if not user.is_staff:
        raise Http404(gettext("There is no such page."))
    refuse_without_second_factor(user)


def person_for_operator(user: SomeUser, pk: int) -> User:
    """Return any user with an account, for operators only."""
    refuse_all_but_operators(user)
    return first_or_404(User.objects.filter(pk=pk), gettext("There is no such person."))


def gold_in(project: Project, pk: int) -> GoldItem:
    items = GoldItem.objects.select_related("item__document", "item__system").prefetch_related("values")
    return first_or_404(
        items.filter(item__document__project=project, pk=pk), gettext("There is no such gold item.")
    )


def practice_item_for(membership: Membership, pk: int) -> GoldItem:
    items = GoldItem.objects.select_related("item__document").filter(use=GoldItem.Use.PRACTICE)
    # An item without gold values cannot be practised: no feedback is possible.
    asked = items.filter(values__isnull=False, item__document__project=membership.project_id)
    return first_or_404(asked.filter(pk=pk), gettext("There is no such item to practise on."))


def item_in(project: Project, pk: int) -> Item:
    items = Item.objects.select_related("document", "system")
    return first_or_404(items.filter(document__project=project, pk=pk), gettext("There is no such item."))


def round_in(project: Project, number: int) -> Round:
    return first_or_404(project.rounds.filter(number=number), gettext("This round has not been opened."))


def saved_template_of(user: SomeUser, pk: int) -> SavedTemplate:
    refuse_without_second_factor(user)
    return first_or_404(
        SavedTemplate.objects.filter(owner=user.pk, pk=pk), gettext("There is no such template.")
    )


def token_of_user(user: SomeUser, pk: int) -> ApiToken:
    return first_or_404(ApiToken.objects.filter(user=user.pk, pk=pk), gettext("There is no such token."))


def session_of_user(user: SomeUser, pk: int) -> UserSession:
    return first_or_404(
        UserSession.objects.filter(user=user.pk, pk=pk), gettext("You are not signed in there.")
    )


def dimension_in(project: Project, key: str) -> Dimension:
    return first_or_404(
        project.dimensions.prefetch_related("points").filter(key=key), gettext("There is no such dimension.")
    )


def image_in(project: Project, key: str) -> GuidelineImage:
    return first_or_404(project.images.filter(key=key), gettext("This image does not exist."))


def membership_in(project: Project, pk: int) -> Membership:
    return first_or_404(
        Membership.objects.select_related("project", "user").filter(project=project, pk=pk),
        gettext("There is no such membership."),
    )


def invitation_in(project: Project, pk: int) -> Invitation:
    return first_or_404(
        Invitation.objects.select_related("project").filter(project=project, pk=pk),
        gettext("There is no such invitation."),
    )


def data_import_in(project: Project, pk: int, kind: str = "") -> DataImport:
    imports = DataImport.objects.select_related("project").filter(project=project, pk=pk)
    return first_or_404(
        imports.filter(kind=kind) if kind else imports,
        gettext("This import does not exist. It may have been discarded."),
    )


def export_in(project: Project, pk: int) -> Export:
    return first_or_404(
        Export.objects.select_related("project", "created_by").filter(project=project, pk=pk),
        gettext("This export does not exist. It may have been deleted."),
    )


def webhook_in(project: Project, pk: int) -> Webhook:
    return first_or_404(
        Webhook.objects.select_related("project").filter(project=project, pk=pk),
        gettext("There is no such webhook."),
    )


def delivery_of(webhook: Webhook, pk: int) -> Delivery:
    return first_or_404(
        Delivery.objects.select_related("webhook__project").filter(webhook=webhook, pk=pk),
        gettext("This delivery does not exist. Old ones are deleted."),
    )
