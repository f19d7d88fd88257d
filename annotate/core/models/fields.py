"""Columns of several tables."""

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db import models

from annotate.core.scale import normalize, normalize_or_none

_Set = TypeVar("_Set")
_Get = TypeVar("_Get")

# Django's fields are generic only for type checkers, which distinguish nullable fields from others.
if TYPE_CHECKING:

    class _FloatField(models.FloatField[_Set, _Get]):
        pass

else:

    class _FloatField(models.FloatField, Generic[_Set, _Get]):
        pass


class PointsField(_FloatField[_Set, _Get]):
    """A value of a scale, or a distance on it, with up to two decimals. Whole values are ints in Python.

    See docs/decisions/0032-values-are-floats-of-two-decimals.md.
    """

    def from_db_value(self, value: float | None, *_: object) -> float | None:
        """Return the column's value, 3.0 as 3. It was rounded when it was written."""
        if value is None:
            return None
        # Django calls this for every value that it reads, so it does not round again as `normalize` does.
        whole = int(value)
        return whole if whole == value else value

    def to_python(self, value: Any) -> float | None:
        return normalize_or_none(super().to_python(value))

    def get_prep_value(self, value: Any) -> Any:
        """Return the value for the column. Raises ValueError if it is no number.

        Always a float: many rows go to PostgreSQL as arrays, and psycopg rejects an array of ints and floats.
        """
        prepared = super().get_prep_value(value)
        return float(normalize(prepared)) if isinstance(prepared, float) else prepared


class MailedRow(models.Model):
    """A row with a mail; a worker sends it at `mail_due_at`, never if that is empty."""

    mail_lease = models.UUIDField(null=True, blank=True, help_text="The worker that sends it.")
    mail_attempts = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Number of workers that took it."
    )
    mail_problem = models.TextField(blank=True, default="", db_default="", help_text="Why it was not sent.")

    class Meta:
        abstract = True
