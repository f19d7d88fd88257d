import secrets

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from annotate.core.models.fields import PointsField


def new_seed() -> int:
    """Return a seed for everything random in a project or round. It is stored for reproducibility."""
    return secrets.randbelow(2**31)


def usual_keep_reasons() -> list[str]:
    return ["The text supports it", "The definition reads so", "It is that severe"]


class Project(models.Model):
    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=150)
    description = models.TextField(blank=True)
    guidelines = models.TextField(blank=True, help_text="Markdown, for all dimensions together.")
    raters_per_item = models.PositiveSmallIntegerField(default=3)
    dispute_threshold = models.PositiveSmallIntegerField(default=2)
    tolerance = models.PositiveSmallIntegerField(default=1)
    keep_reasons = models.JSONField(
        default=usual_keep_reasons,
        blank=True,
        help_text="Short reasons with which a rater may keep a value in Round II.",
    )
    practice_bar = models.PositiveSmallIntegerField(
        null=True,
        blank=True,
        help_text="Percent of practice to get right before Round I; empty: no practice.",
    )
    datasheet = models.JSONField(
        default=dict,
        blank=True,
        help_text="What the authors of the data set say of it: a Datasheet of annotate.exports.citation.",
    )
    calibrates = models.ForeignKey(
        "self",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="calibration_sessions",
        help_text="The project whose raters calibrate themselves in this one; empty: it is a benchmark.",
    )
    reservation_minutes = models.PositiveIntegerField(default=120)
    seed = models.BigIntegerField(default=new_seed)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(raters_per_item__gte=1), name="at_least_one_rater_per_item"),
            models.CheckConstraint(
                condition=Q(tolerance__lt=F("dispute_threshold")), name="tolerance_below_dispute_threshold"
            ),
            models.CheckConstraint(condition=Q(reservation_minutes__gte=1), name="reservations_last"),
        ]

    def __str__(self) -> str:
        return self.name


class MeasurementLevelChoices(models.TextChoices):
    """The measurement level of values, after Stevens (1946)."""

    NOMINAL = "nominal", _("nominal: equal or different")
    ORDINAL = "ordinal", _("ordinal: ranked")
    INTERVAL = "interval", _("interval: equal steps")
    RATIO = "ratio", _("ratio: equal steps from a true zero")


class Dimension(models.Model):
    """A quality of items to rate. A round freezes it into its guideline."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="dimensions")
    key = models.SlugField(max_length=60)
    name = models.CharField(max_length=80)
    position = models.PositiveIntegerField()
    definition = models.TextField(blank=True)
    guidelines = models.TextField(blank=True, help_text="Markdown.")
    scale_minimum = models.IntegerField(default=1)
    scale_maximum = models.IntegerField(default=5)
    scale_step = PointsField(default=1, help_text="How far apart neighbouring values of the scale lie.")
    measurement_level = models.CharField(
        max_length=8, choices=MeasurementLevelChoices.choices, default=MeasurementLevelChoices.INTERVAL
    )
    # A point means less on a scale of 100 than on one of 5. So each dimension can have its own rule.
    dispute_threshold = PointsField(
        null=True, blank=True, help_text="Of this dimension; empty: the project's."
    )
    tolerance = PointsField(null=True, blank=True, help_text="Of this dimension; empty: the project's.")
    not_applicable = models.BooleanField(
        default=False, help_text="Whether raters may say that the dimension does not apply to an item."
    )
    # Without choices, because `register_kind` adds a kind without a migration.
    kind = models.CharField(
        max_length=12,
        default="scale",
        db_default="scale",
        help_text="The key of its question kind, see annotate.questions; categories are a scale here.",
    )
    # JSON for all kinds: a model for each kind would add a join to every save.
    options = models.JSONField(
        null=True, blank=True, help_text="As its question kind reads them; empty on a scale."
    )
    shown_if = models.JSONField(
        null=True,
        blank=True,
        help_text="{dimension, values}: asked only where an earlier question has one of these answers.",
    )

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint("project", "key", name="dimension_key_once_in_project"),
            models.CheckConstraint(
                condition=Q(scale_minimum__lt=F("scale_maximum")), name="scale_has_two_points"
            ),
            models.CheckConstraint(
                condition=Q(dispute_threshold__isnull=True) | Q(dispute_threshold__gt=0),
                name="equal_values_never_dispute",
            ),
            models.CheckConstraint(
                condition=Q(dispute_threshold__isnull=True)
                | Q(tolerance__isnull=True)
                | Q(tolerance__lt=F("dispute_threshold")),
                name="own_tolerance_below_own_threshold",
            ),
            models.CheckConstraint(
                condition=Q(tolerance__isnull=True) | Q(tolerance__gte=0), name="own_tolerance_not_negative"
            ),
            models.CheckConstraint(condition=Q(scale_step__gt=0), name="scale_rises_by_steps"),
            models.CheckConstraint(
                condition=~Q(measurement_level="nominal") | Q(scale_step=1),
                name="categories_are_whole_numbers",
            ),
            models.CheckConstraint(
                condition=~Q(measurement_level="ratio") | Q(scale_minimum__gte=0),
                name="ratio_scale_starts_at_zero_or_above",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ScalePoint(models.Model):
    dimension = models.ForeignKey(Dimension, models.CASCADE, related_name="points")
    value = models.IntegerField()
    label = models.CharField(max_length=80, blank=True)
    description = models.TextField(blank=True)

    class Meta:
        ordering = ["value"]
        constraints = [models.UniqueConstraint("dimension", "value", name="scale_point_once")]

    def __str__(self) -> str:
        return f"{self.value} {self.label}".strip()


class SavedTemplate(models.Model):
    """A template of one person. Other people get it as a file."""

    owner = models.ForeignKey("annotate.User", models.CASCADE, related_name="templates")
    name = models.CharField(max_length=150)
    content = models.TextField(help_text="The file; see annotate.setup.template_file.")
    saved_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-saved_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def key(self) -> str:
        """Return its key in forms and URLs. It differs from the keys of Concord's built-in templates."""
        return f"own-{self.pk}"
