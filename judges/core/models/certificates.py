"""Calibrations, their samples, and the resulting certificates."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Calibration(models.Model):
    """A test of a judge on some dimensions; everything about it is fixed before its ratings are seen.

    `bound` is the subject of the promise (see `judges.routing.queries.learn_certificates`). Once certified or
    withdrawn, it never changes; the database enforces this.
    """

    class Status(models.TextChoices):
        DRAWN = "drawn", _("drawn")
        CERTIFIED = "certified", _("computed")
        WITHDRAWN = "withdrawn", _("withdrawn")

    class Loss(models.TextChoices):
        ANOTHER_POINT = "another_point", _("another point than people")
        MORE_THAN_ONE_POINT = "more_than_one_point", _("more than one point away from people")
        OTHER_SIDE = "other_side", _("on the other side of a cut than people")

    class Confidence(models.TextChoices):
        CLOSENESS = "closeness", _("closeness of the two judges")
        STEADINESS = "steadiness", _("steadiness over its samples")
        LARGEST_PROBABILITY = "largest_probability", _("share of its most frequent value over its samples")
        CHOSEN_PROBABILITY = "chosen_probability", _("probability of its likeliest answer")
        ERROR_MODEL = "error_model", _("a model of its errors, fitted on ratings of its own")

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="calibrations")
    name = models.CharField(max_length=80)
    judge = models.ForeignKey("judges.Judge", models.PROTECT, related_name="+")
    other = models.ForeignKey("judges.Judge", models.PROTECT, null=True, related_name="+")
    loss = models.CharField(max_length=19, choices=Loss.choices)
    cut = models.FloatField(null=True)
    risk = models.FloatField()
    significance_level = models.FloatField(help_text="Delta, for all certificates of it together.")
    confidence = models.CharField(max_length=19, choices=Confidence.choices)
    expected_error = models.FloatField(help_text="Supposed for the plan; no result depends on it.")
    accepted_share = models.FloatField(help_text="Likewise.")
    raters = models.PositiveSmallIntegerField()
    size = models.PositiveIntegerField(help_text="Units of each dimension that calibrate.")
    fitting = models.PositiveIntegerField(
        default=0, help_text="Units of each dimension that fit the error model."
    )
    grids = models.JSONField(help_text="By dimension key the thresholds; none where a model gives them.")
    bound = models.JSONField()
    seed = models.BigIntegerField()
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.DRAWN)
    opened_round = models.BooleanField(default=False, help_text="Whether Round I was opened for it.")
    learned_in = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        related_name="copies",
        help_text="The benchmark's calibration whose certificates an addition has; it drew no sample itself.",
    )
    drawn_at = models.DateTimeField()
    drawn_by = models.ForeignKey("annotate.User", models.PROTECT, null=True, related_name="+")
    ended_at = models.DateTimeField(null=True, help_text="When it was computed or withdrawn.")
    ended_by = models.ForeignKey("annotate.User", models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "name", name="calibration_name_once_in_project"),
            models.UniqueConstraint(
                "judge", condition=Q(status="drawn"), name="one_sample_at_a_time_of_a_judge"
            ),
            models.CheckConstraint(
                condition=Q(
                    risk__gt=0, risk__lt=1, significance_level__gt=0, significance_level__lt=1, size__gte=1
                ),
                name="calibration_levels_in_range",
            ),
            models.CheckConstraint(
                condition=Q(loss="other_side", cut__isnull=False)
                | (~Q(loss="other_side") & Q(cut__isnull=True)),
                name="only_sides_have_a_cut",
            ),
            models.CheckConstraint(
                condition=~Q(confidence="closeness") | Q(other__isnull=False),
                name="closeness_needs_two_judges",
            ),
            models.CheckConstraint(
                condition=Q(status="drawn", ended_at__isnull=True)
                | (~Q(status="drawn") & Q(ended_at__isnull=False)),
                name="calibrations_end_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def origin(self) -> str:
        """The origin recorded in the assignments that it requested."""
        return f"calibration {self.pk}"


class CalibrationStage(models.Model):
    """A further judge of a calibration, for the units that the judges before it do not decide.

    The first stage is the calibration's own judge, so positions start with 2. `other`: the judge to compare
    it with, if the confidence needs one.
    """

    calibration = models.ForeignKey(Calibration, models.CASCADE, related_name="stages")
    position = models.PositiveSmallIntegerField()
    judge = models.ForeignKey("judges.Judge", models.PROTECT, related_name="+")
    other = models.ForeignKey("judges.Judge", models.PROTECT, null=True, related_name="+")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint("calibration", "position", name="one_stage_at_a_position"),
            models.UniqueConstraint("calibration", "judge", name="a_judge_is_one_stage"),
            models.CheckConstraint(condition=Q(position__gte=2), name="further_stages_begin_with_two"),
        ]

    def __str__(self) -> str:
        return f"{self.position}. {self.judge}"


class Certificate(models.Model):
    """The result of a calibration on one dimension:

    a threshold, or why all units go to humans. Never changed.

    units: units of the batch with a confidence of the judge. kept: units at or above the threshold. With
    several judges, `stages` record the decisions of each, `threshold` is the first of theirs, `kept` is the
    expected number according to the sample, and `error_model` is empty. rated, missing: calibration units
    with and without a rating. accepted, errors: ratings among the kept units, and the ratings that count
    against the judge. steps: the thresholds tested. controls: the same test on a constant and a shuffled
    judge. ceiling: the loss of one person against the others.
    """

    calibration = models.ForeignKey(Calibration, models.CASCADE, related_name="certificates")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    significance_level = models.FloatField(help_text="Its share of delta.")
    threshold = models.FloatField(null=True)
    reason = models.TextField(blank=True, help_text="Why there is no threshold.")
    units = models.PositiveIntegerField()
    kept = models.PositiveIntegerField(default=0)
    rated = models.PositiveIntegerField()
    missing = models.PositiveIntegerField()
    accepted = models.PositiveIntegerField(null=True)
    errors = models.PositiveIntegerField(null=True)
    upper_bound = models.FloatField(null=True, help_text="On the share of errors among the kept units.")
    risk_of_unrated = models.FloatField(null=True)
    more_ratings = models.PositiveIntegerField(null=True)
    more_reason = models.TextField(blank=True)
    steps = models.JSONField()
    controls = models.JSONField()
    ceiling = models.FloatField(null=True)
    ceiling_units = models.PositiveIntegerField()
    ceiling_reason = models.TextField(blank=True)
    error_model = models.JSONField(null=True, help_text="Intercept, slopes, centres, scales by feature.")

    class Meta:
        constraints = [
            models.UniqueConstraint("calibration", "dimension", name="one_certificate_per_dimension"),
            models.CheckConstraint(
                condition=Q(threshold__isnull=False, reason="", upper_bound__isnull=False)
                | Q(threshold__isnull=True, reason__gt="", kept=0),
                name="abstentions_say_why",
            ),
        ]

    def __str__(self) -> str:
        return f"certificate {self.pk}"

    @property
    def kept_share(self) -> float:
        """The share of the batch that stays with the judge."""
        return self.kept / self.units if self.units else 0.0


class CertifiedStage(models.Model):
    """The decisions of one judge of several under a certificate, the first judge included. Never changed.

    threshold: None if it decides nothing. accepted, errors: of the rated units of the sample.
    """

    certificate = models.ForeignKey(Certificate, models.CASCADE, related_name="stages")
    position = models.PositiveSmallIntegerField()
    judge = models.ForeignKey("judges.Judge", models.PROTECT, related_name="+")
    threshold = models.FloatField(null=True)
    accepted = models.PositiveIntegerField()
    errors = models.PositiveIntegerField()
    error_model = models.JSONField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint("certificate", "position", name="one_certified_stage_at_a_position"),
            models.CheckConstraint(
                condition=Q(errors__lte=models.F("accepted")), name="stage_errors_are_of_accepted_units"
            ),
            models.CheckConstraint(
                condition=Q(threshold__isnull=False) | Q(accepted=0), name="stages_accept_by_a_threshold"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.position}. {self.judge}"
