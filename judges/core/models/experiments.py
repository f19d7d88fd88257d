from django.db import models


class Experiment(models.Model):
    """The factors that a run varies; its variants are the judges."""

    run = models.OneToOneField("judges.Run", models.CASCADE, related_name="experiment")
    factors = models.JSONField(
        help_text="In their order, each with `key` and `levels`: names, that of the base judge first."
    )

    def __str__(self) -> str:
        return f"experiment of {self.run}"


class ExperimentVariant(models.Model):
    """A judge with its combination of levels.

    position: of the combination, if the level of the last factor changes fastest; 0 is the base judge.
    """

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="variants")
    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="experiment_variants")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ("position",)
        constraints = [
            models.UniqueConstraint("experiment", "position", name="one_variant_at_a_position"),
            models.UniqueConstraint("experiment", "judge", name="judge_once_in_experiment"),
        ]

    def __str__(self) -> str:
        return str(self.judge)
