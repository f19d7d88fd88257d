"""People: accounts, preferences, memberships, invitations, and decisions on the raters that count."""

import hashlib
import secrets
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.core.keys import KeySet
from annotate.core.models.fields import MailedRow

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # No characters that look alike.


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create an account that can sign in. Its e-mail is in lower case, as allauth looks it up."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Create an account with every Django permission (not the same as a project's admin)."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractBaseUser, PermissionsMixin):
    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150, blank=True)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    date_joined = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="one_account_per_email")]

    def __str__(self) -> str:
        return self.name or self.email


class FormerName(models.Model):
    """The earlier name of a person who changed their e-mail, for histories that store only a name."""

    user = models.ForeignKey(User, models.PROTECT, related_name="former_names")
    at = models.DateTimeField(help_text="Until when.")
    name = models.CharField(max_length=150, blank=True)
    email = models.EmailField()

    class Meta:
        indexes = [models.Index("user", "at", name="names_of_a_person")]

    def __str__(self) -> str:
        return f"{self.email} until {self.at:%Y-%m-%d}"


class Role(models.TextChoices):
    ADMIN = "admin", _("admin")
    ANNOTATOR = "annotator", _("annotator")
    RESEARCHER = "researcher", _("researcher")
    ADJUDICATOR = "adjudicator", _("adjudicator")


def new_pseudonym() -> str:
    """Return a random pseudonym for exports. It reveals neither the person nor another project."""
    return "R-" + "".join(secrets.choice(LETTERS) for _ in range(8))


class Membership(models.Model):
    """A membership in a project. Memberships from imported ratings have no user yet."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role.choices)
    label = models.CharField(max_length=150, help_text="The name that admins see.")
    alias = models.CharField(max_length=8, blank=True, help_text="The letter that other raters see.")
    pseudonym = models.CharField(
        max_length=20, default=new_pseudonym, help_text="What exports call this person in this project."
    )
    active = models.BooleanField(default=True)
    counted = models.BooleanField(default=True, help_text="Whether its ratings count in the statistics.")
    practice_attempt = models.PositiveSmallIntegerField(default=1)
    practised_at = models.DateTimeField(null=True, blank=True, help_text="When practice was passed.")
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", "user", "role", condition=Q(user__isnull=False), name="one_place_per_role"
            ),
            models.UniqueConstraint("project", "pseudonym", name="pseudonym_once_in_project"),
            models.UniqueConstraint("project", "alias", condition=~Q(alias=""), name="alias_once_in_project"),
            models.UniqueConstraint(
                "project", "label", condition=Q(role="annotator"), name="annotator_label_once_in_project"
            ),
            models.CheckConstraint(
                condition=Q(role="annotator", alias__gt="") | (~Q(role="annotator") & Q(alias="")),
                name="annotators_have_an_alias",
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=False) | Q(role="annotator"),
                name="only_annotator_places_may_be_empty",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} ({self.role})"

    @property
    def must_practise(self) -> bool:
        """Return True if the annotator has to pass practice first. No query, with the project at hand."""
        return self.project.practice_bar is not None and self.practised_at is None

    @property
    def rater_name(self) -> str:
        return f"Rater {self.alias}"


class RecordedName(models.Model):
    """The name of an annotator in files of recorded ratings, if it is not the label."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="recorded_names")
    name = models.CharField(max_length=150)
    membership = models.ForeignKey(
        Membership, models.CASCADE, related_name="recorded_names", db_column="place_id"
    )

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="recorded_name_once_in_project")]

    def __str__(self) -> str:
        return self.name


class Invitation(MailedRow):
    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=12, choices=Role.choices)
    membership = models.ForeignKey(
        Membership,
        models.CASCADE,
        null=True,
        blank=True,
        db_column="place_id",
        help_text="The membership without an account that it fills, if any.",
    )
    email = models.EmailField(blank=True)
    note = models.TextField(blank=True, help_text="What the work is, how much, and by when.")
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When it was last sent by e-mail.")
    mail_site = models.CharField(max_length=200, blank=True, help_text="The address of Concord in the mail.")
    mail_asked_at = models.DateTimeField(null=True, blank=True)
    mail_due_at = models.DateTimeField(
        null=True, blank=True, help_text="When a worker mails it; empty: never."
    )
    accepted_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(accepted_at__isnull=True) | Q(withdrawn_at__isnull=True),
                name="invitation_not_both_accepted_and_withdrawn",
            )
        ]

    def __str__(self) -> str:
        return f"invitation {self.pk} as {self.role}"


class AccountMail(MailedRow):
    """A queued mail about an account. The worker that sends it deletes the row."""

    user = models.ForeignKey(
        User, models.CASCADE, null=True, related_name="+", help_text="The account that it is about, if any."
    )
    sealed = models.TextField(help_text="Receiver, subject and text, encrypted.")
    asked_at = models.DateTimeField(default=timezone.now)
    mail_due_at = models.DateTimeField(default=timezone.now, help_text="When a worker sends it.")

    def __str__(self) -> str:
        return f"account mail {self.pk}"


class CountingDecision(models.Model):
    """An admin's decision whether an annotator's ratings count, with the reason. Never changed."""

    membership = models.ForeignKey(
        "annotate.Membership", models.CASCADE, related_name="counting_decisions", db_column="place_id"
    )
    counted = models.BooleanField()
    note = models.TextField()
    by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return "counted" if self.counted else "left out"


# Tokens by which programs act for a person, and what they were answered.


def token_digest(secret: str) -> str:
    """Return the SHA-256 that identifies a token. Tokens are random enough that no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """A token for a program that acts for a person, within its scopes. The secret is not stored."""

    user = models.ForeignKey("annotate.User", models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80, help_text="What it is for.")
    digest = models.CharField(max_length=64, unique=True, help_text="token_digest of the token.")
    beginning = models.CharField(max_length=16, help_text="Its first letters, by which a person knows it.")
    may_read = models.BooleanField(default=False)
    may_write = models.BooleanField(default=False)
    may_rate = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, help_text="When it was last used, to within an hour.")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(may_read=True) | Q(may_write=True) | Q(may_rate=True),
                name="tokens_allow_something",
            ),
            models.CheckConstraint(condition=Q(expires_at__gt=F("created_at")), name="tokens_last"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.beginning}…)"

    @property
    def scopes(self) -> list[str]:
        return [scope for scope in ("read", "write", "rate") if getattr(self, f"may_{scope}")]

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and self.expires_at > timezone.now()


class KeptAnswer(models.Model):
    """The response to a write with an Idempotency-Key, so that a repeated request writes nothing twice."""

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="kept_answers")
    key = models.CharField(max_length=200)
    request = models.CharField(max_length=64, help_text="SHA-256 of method, address and body.")
    status = models.PositiveSmallIntegerField(default=0)
    content = models.TextField(blank=True, help_text="JSON.")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint("token", "key", name="idempotency_key_once_per_token")]
        indexes = [models.Index("at", name="kept_answers_by_time")]

    def __str__(self) -> str:
        return self.key


class Theme(models.TextChoices):
    SYSTEM = "system", _("As my device")
    LIGHT = "light", _("Light")
    DARK = "dark", _("Dark")
    CONTRAST = "contrast", _("High contrast")


class Language(models.TextChoices):
    """Language of the interface. Documents, outputs and guidelines are not translated."""

    BROWSER = "", _("As my browser")
    ENGLISH = "en", _("English")
    GERMAN = "de", _("Deutsch")


CHOSEN = {"theme": Theme, "language": Language}


class NoticeKind(models.TextChoices):
    """A kind of notification by mail. People subscribe to each kind."""

    ROUNDS = "rounds", _("a round opens or closes")
    DEADLINES = "deadlines", _("a round that I have work in ends in 7 or 2 days")
    HANDED_OVER = "handed_over", _("work of others is handed over to me")
    EXPORTS = "exports", _("an export that I asked for is ready")


class Preferences(models.Model):
    """A person's preferences. Without a row, the defaults hold."""

    user = models.OneToOneField(User, models.CASCADE, related_name="preferences")
    theme = models.CharField(_("Colours"), max_length=12, choices=Theme.choices, default=Theme.SYSTEM)
    language = models.CharField(
        _("Language"), max_length=12, choices=Language.choices, default=Language.BROWSER, blank=True
    )

    key_set = models.CharField(_("Keys"), max_length=12, choices=KeySet.choices, default=KeySet.USUAL)
    own_keys = models.JSONField(default=dict, help_text="Keys other than the set's, by what they do.")
    goes_on = models.BooleanField(
        _("Go on by itself"), default=False, help_text="To the next item, when everything is rated."
    )
    digest_address = models.CharField(
        max_length=200,
        blank=True,
        help_text="Where Concord was reached when the daily mail about disputes was asked for, or empty.",
    )
    notices = models.JSONField(default=list, help_text="Of what else mails are wanted.")
    notice_address = models.CharField(
        max_length=200, blank=True, help_text="Where Concord was reached when these were chosen."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(**{f"{name}__in": kind.values}), name=f"known_{name}")
            for name, kind in {**CHOSEN, "key_set": KeySet}.items()
        ]

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class Notice(MailedRow):
    """A mail notification of a person about one event. Its content is written at the time of sending."""

    user = models.ForeignKey(User, models.CASCADE, related_name="notices")
    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="+")
    kind = models.CharField(max_length=11, choices=NoticeKind.choices)
    about = models.CharField(max_length=80, help_text="What is told once, such as a round and a day.")
    facts = models.JSONField()
    link = models.CharField(max_length=500)
    at = models.DateTimeField()
    mail_due_at = models.DateTimeField(null=True, db_index=True, help_text="When it goes; empty: never.")
    mailed_at = models.DateTimeField(null=True, help_text="When the mail server took the message.")

    class Meta:
        constraints = [
            models.UniqueConstraint("user", "project", "kind", "about", name="a_notice_is_given_once")
        ]

    def __str__(self) -> str:
        return f"notice {self.pk}"
