"""Calibrations with their certificates, and routing policies: units that a judge keeps or people rate."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agreement.reliability import LEAST_RATINGS


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
    # Stored before a rating is read: thresholds that ratings choose would void the guarantee.
    grids = models.JSONField(help_text="By dimension key the thresholds; none where a model gives them.")
    # A copy of the settings, because judges and their prompts can change after the sampling.
    bound = models.JSONField()
    # The sample and the shuffled control follow from it, so both can be computed again.
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
                # Closeness is the distance between the values of two judges.
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
        # A text, because `annotate` has the assignments and imports no tables of judges.
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
            # A judge that leaves a unit undecided would leave it again at a later stage.
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
    # The bound covers rated units, too, so the units without a rating may be worse.
    risk_of_unrated = models.FloatField(null=True)
    more_ratings = models.PositiveIntegerField(null=True)
    more_reason = models.TextField(blank=True)
    steps = models.JSONField()
    # A certificate that a control passes as well says little about this judge.
    controls = models.JSONField()
    # A risk below it demands more of the judge than people reach among themselves.
    ceiling = models.FloatField(null=True)
    ceiling_units = models.PositiveIntegerField()
    ceiling_reason = models.TextField(blank=True)
    error_model = models.JSONField(null=True, help_text="Intercept, slopes, centres, scales by feature.")

    class Meta:
        constraints = [
            models.UniqueConstraint("calibration", "dimension", name="one_certificate_per_dimension"),
            models.CheckConstraint(
                # Either a threshold with its bound, or a reason and no kept unit.
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


class RoutingPolicy(models.Model):
    """A rule that sends units to people or leaves them to a judge; frozen after its first use.

    It compares R of `rts` and `mcq` with a threshold r, or follows the certificates of a `calibration`, whose
    judge is then `rts`. `rts` is the judge that decides the units not sent to people. `risk`: the accepted
    share of units more than a point away from people (or wrong by the calibration's criterion); an audit that
    shows more is a warning. For each system on each dimension, the audit covers `audit_share` of the judge's
    units, and at least `audit_least` units.
    """

    class Rule(models.TextChoices):
        INDICATOR = "indicator", _("R against r")
        CERTIFICATE = "certificate", _("certificates")

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        ROUTED = "routed", _("routed")
        WITHDRAWN = "withdrawn", _("withdrawn")

    class Coefficient(models.TextChoices):
        SPEARMAN = "spearman", _("Spearman's rho")
        PEARSON = "pearson", _("Pearson's r")
        KENDALL = "kendall_tau_b", _("Kendall's tau-b")

    class DecidedBy(models.TextChoices):
        LOWER_BOUND = "lower_bound", _("R's lower bound")
        ESTIMATE = "estimate", _("R itself")

    class Audit(models.TextChoices):
        RANDOM = "random", _("at random")
        ACTIVE = "active", _("more where errors are expected")

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="routing_policies")
    name = models.CharField(max_length=80)
    rule = models.CharField(max_length=11, choices=Rule.choices, default=Rule.INDICATOR)
    calibration = models.ForeignKey("judges.Calibration", models.PROTECT, null=True, related_name="policies")
    rts = models.ForeignKey("judges.Judge", models.PROTECT, related_name="+")
    mcq = models.ForeignKey("judges.Judge", models.PROTECT, null=True, related_name="+")
    coefficient = models.CharField(max_length=13, choices=Coefficient.choices, default=Coefficient.SPEARMAN)
    threshold = models.FloatField(
        null=True, help_text="r, for every dimension that has none of its own; none by certificates."
    )
    thresholds = models.JSONField(default=dict, help_text="Dimension keys with an r of their own.")
    # Over 100 items R is known to about ±0.2, so near r the estimate itself is a coin toss.
    decided_by = models.CharField(max_length=11, choices=DecidedBy.choices, default=DecidedBy.LOWER_BOUND)
    confidence_level = models.FloatField(default=0.95)
    audit = models.CharField(max_length=6, choices=Audit.choices, default=Audit.RANDOM)
    audit_share = models.FloatField(default=0.05)
    # With fewer ratings, intervals cover less than they state (docs/reference/statistics.md).
    audit_least = models.PositiveIntegerField(
        default=LEAST_RATINGS,
        help_text="Audited units of each system on a dimension at least, or all that stay; 0: by share only.",
    )
    raters = models.PositiveSmallIntegerField()
    risk = models.FloatField(default=0.2)
    seed = models.BigIntegerField(help_text="Of the audit and of R's intervals.")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.DRAFT)
    round = models.ForeignKey("annotate.Round", models.PROTECT, null=True, related_name="+")
    opened_round = models.BooleanField(default=False, help_text="Whether the round was opened for it.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    routed_at = models.DateTimeField(null=True)
    routed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name_plural = "routing policies"
        constraints = [
            models.UniqueConstraint("project", "name", name="policy_name_once_in_project"),
            # Two policies could send a unit to people and leave it to a judge at once.
            models.UniqueConstraint(
                "project", condition=Q(status="routed"), name="one_policy_routes_a_project"
            ),
            models.CheckConstraint(condition=Q(threshold__gte=-1, threshold__lte=1), name="r_in_range"),
            models.CheckConstraint(
                condition=Q(
                    rule="indicator", calibration__isnull=True, mcq__isnull=False, threshold__isnull=False
                )
                | Q(rule="certificate", calibration__isnull=False, threshold__isnull=True, audit="random"),
                name="a_policy_follows_r_or_certificates",
            ),
            # Estimates weigh units by 1 / probability, so no unit may have a probability of 0.
            models.CheckConstraint(
                condition=Q(audit_share__gt=0, audit_share__lte=1), name="nothing_is_never_drawn"
            ),
            models.CheckConstraint(
                condition=Q(confidence_level__gt=0, confidence_level__lt=1, risk__gt=0, risk__lt=1),
                name="policy_levels_in_range",
            ),
            models.CheckConstraint(condition=Q(raters__gte=1), name="a_routed_unit_has_a_rater"),
            models.CheckConstraint(
                condition=~Q(status="routed") | Q(round__isnull=False, routed_at__isnull=False),
                name="routed_policies_say_where_and_when",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def origin(self) -> str:
        """The origin recorded in the assignments that it requested."""
        return f"routing policy {self.pk}"


class RoutedUnit(models.Model):
    """A unit that a policy sends to people, with all inputs of the decision."""

    class Why(models.TextChoices):
        THRESHOLD = "threshold", _("R is not above r")
        UNDEFINED = "undefined", _("R is undefined")
        NO_VALUE = "no_value", _("the judge has no value")
        UNSURE = "unsure", _("the judge is not sure enough")
        ABSTAINED = "abstained", _("the dimension has no certificate")
        FITTED = "fitted", _("it fits the model of errors")
        AUDIT = "audit", _("drawn to audit the judge")
        STOPPED = "stopped", _("the audit contradicts the judge")

    policy = models.ForeignKey(RoutingPolicy, models.CASCADE, related_name="units")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="+")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    why = models.CharField(max_length=9, choices=Why.choices)
    reason = models.TextField(help_text="The same in a sentence, with the numbers.")
    indicator = models.FloatField(null=True, help_text="R of the item's system on the dimension.")
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    items = models.PositiveIntegerField(null=True, help_text="How many items R is over.")
    confidence = models.FloatField(null=True, help_text="How sure the judge is, by certificates.")
    threshold = models.FloatField(null=True, help_text="r, or the certificate's threshold.")
    inclusion_probability = models.FloatField()
    at = models.DateTimeField()
    by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint("policy", "item", "dimension", name="a_policy_routes_a_unit_once"),
            models.CheckConstraint(
                # Only the audit is a sample: all other routed units reach people with certainty.
                condition=Q(why="audit", inclusion_probability__gt=0, inclusion_probability__lte=1)
                | (~Q(why="audit") & Q(inclusion_probability=1)),
                name="routed_units_are_certain_audited_ones_drawn",
            ),
            models.CheckConstraint(
                condition=~Q(why="undefined") | Q(reason__gt=""), name="undefined_indicators_say_why"
            ),
        ]

    def __str__(self) -> str:
        return f"unit {self.item_id}/{self.dimension_id} of {self.policy_id}"


class StageDecision(models.Model):
    """The judge that decides a unit not sent to people, if the policy's calibration has several judges."""

    policy = models.ForeignKey(RoutingPolicy, models.CASCADE, related_name="stage_decisions")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="+")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    judge = models.ForeignKey("judges.Judge", models.PROTECT, related_name="+")
    confidence = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint("policy", "item", "dimension", name="one_stage_decides_a_unit")
        ]

    def __str__(self) -> str:
        return f"unit {self.item_id}/{self.dimension_id} by {self.judge_id}"


class StoppedStage(models.Model):
    """A judge of several that an audit contradicted:

    its units went to people, and it decides no later ones.
    """

    policy = models.ForeignKey(RoutingPolicy, models.CASCADE, related_name="stopped_stages")
    judge = models.ForeignKey("judges.Judge", models.PROTECT, related_name="+")
    # The audit ends once people have the units, so the reason cannot be computed again.
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("policy", "judge", name="a_stage_stops_once")]

    def __str__(self) -> str:
        return self.reason


class StoppedDimension(models.Model):
    """A dimension on which an audit contradicted the certificate of a benchmark: its units go to people."""

    policy = models.ForeignKey(RoutingPolicy, models.CASCADE, related_name="stopped_dimensions")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("policy", "dimension", name="a_dimension_stops_once")]

    def __str__(self) -> str:
        return self.reason


class CalibrationUnit(models.Model):
    """A unit whose ratings set a policy's r or a calibration's threshold; it is excluded from reports on
    both.

    For a policy, the units that had ratings at routing; for a calibration, its sample. `fits`: it fits the
    calibration's error model, and does not calibrate.
    """

    # Ratings that helped to choose r cannot show how accurate the judge is under it.
    policy = models.ForeignKey(RoutingPolicy, models.CASCADE, null=True, related_name="calibration_units")
    calibration = models.ForeignKey("judges.Calibration", models.CASCADE, null=True, related_name="units")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="+")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    fits = models.BooleanField(default=False)
    # Null for a policy, whose units had ratings already and were not sampled.
    inclusion_probability = models.FloatField(null=True, help_text="That a calibration drew it.")

    class Meta:
        constraints = [
            models.UniqueConstraint("policy", "item", "dimension", name="a_unit_calibrates_a_policy_once"),
            models.UniqueConstraint(
                "calibration", "item", "dimension", name="a_calibration_draws_a_unit_once"
            ),
            models.CheckConstraint(
                condition=Q(policy__isnull=False, calibration__isnull=True, fits=False)
                | Q(policy__isnull=True, calibration__isnull=False),
                name="units_calibrate_a_policy_or_a_threshold",
            ),
        ]

    def __str__(self) -> str:
        return f"unit {self.item_id}/{self.dimension_id} of {self.policy_id or self.calibration_id}"
