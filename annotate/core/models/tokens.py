"""Tokens by which programs act for a person, and what they were answered."""

import hashlib

from django.db import models
from django.db.models import F, Q
from django.utils import timezone


def token_digest(secret: str) -> str:
    """Return the SHA-256 by which a token is known; it is random enough that no salt is needed."""
    return hashlib.sha256(secret.encode()).hexdigest()


class ApiToken(models.Model):
    """What lets a program act for a person, within its scopes, until it expires; it is not kept itself."""

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
        """What it may be used for."""
        return [scope for scope in ("read", "write", "rate") if getattr(self, f"may_{scope}")]

    @property
    def is_usable(self) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and self.expires_at > timezone.now()


class KeptAnswer(models.Model):
    """What a write with an Idempotency-Key was answered, so that sending it again does nothing twice."""

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
