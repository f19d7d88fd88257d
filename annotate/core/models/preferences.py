"""Display preferences of a person."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.core.keys import KeySet
from annotate.core.models.mails import MailedRow
from annotate.core.models.people import User


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
