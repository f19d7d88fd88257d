from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.core.outbound import origin_of


class Endpoint(models.Model):
    """A server of models with its URL, interface, limits and prices. `EndpointKey` stores its key."""

    class Dialect(models.TextChoices):
        """The interface of a server; see judges.endpoints.dialects."""

        OPENAI = "openai", _("OpenAI-compatible")
        ANTHROPIC = "anthropic", _("Anthropic Messages")
        GEMINI = "gemini", _("Gemini")

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="endpoints")
    name = models.CharField(max_length=80)
    base_url = models.URLField(max_length=300)
    # With `db_default`, because the previous version writes rows without it during an upgrade.
    dialect = models.CharField(
        max_length=9, choices=Dialect.choices, default=Dialect.OPENAI, db_default=Dialect.OPENAI
    )
    key_variable = models.CharField(
        max_length=80, blank=True, help_text="The name of the environment variable that holds the key."
    )
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    input_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Per million tokens; empty: unknown.",
    )
    output_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Per million tokens; empty: unknown.",
    )
    cached_price = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        null=True,
        blank=True,
        help_text="Per million input tokens that the server had cached; empty: as other input tokens.",
    )
    moved_at = models.DateTimeField(
        null=True, help_text="When it was last given another address; answers before are of another server."
    )
    archived_at = models.DateTimeField(null=True, help_text="Archived: neither it nor its judges are asked.")
    timeout_seconds = models.PositiveIntegerField(default=60)
    calls_in_flight = models.PositiveIntegerField(default=16)
    samples_in_one_call = models.BooleanField(
        default=False, help_text="Whether all samples of a judgment are asked for in one call (n)."
    )
    # A time, because a number of failures measures the calls in flight.
    patience_minutes = models.PositiveSmallIntegerField(
        default=15, help_text="Minutes without an answer after which its runs stop."
    )
    resume_hours = models.PositiveSmallIntegerField(
        default=24, help_text="Hours in which runs that stopped for it resume by themselves; 0: never."
    )
    # The silence is stored with the server, so that all workers and runs see one outage.
    unanswered_since = models.DateTimeField(
        null=True, help_text="The first failed call since its last answer; empty while it answers."
    )
    tried_at = models.DateTimeField(null=True, help_text="The last failed call.")
    failure = models.TextField(blank=True, help_text="Why that call failed, in a sentence.")
    patience_until = models.DateTimeField(null=True, help_text="When its runs stop if nothing is answered.")
    next_probe_at = models.DateTimeField(
        null=True, help_text="When one call tries it again; until one is answered no other begins."
    )
    failed_probes = models.PositiveSmallIntegerField(default=0)
    resting_until = models.DateTimeField(
        null=True, blank=True, help_text="Until when the server asked everyone to wait."
    )
    # The window is stored, so that the next worker continues it and exceeds no limit.
    window_began_at = models.DateTimeField(null=True, blank=True)
    window_requests = models.PositiveIntegerField(default=0)
    window_tokens = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "name", name="endpoint_name_once_in_project"),
            models.CheckConstraint(condition=Q(calls_in_flight__gte=1), name="endpoint_takes_a_call"),
            models.CheckConstraint(condition=Q(timeout_seconds__gte=1), name="endpoint_timeout_lasts"),
            models.CheckConstraint(condition=Q(patience_minutes__gte=1), name="patience_lasts"),
            models.CheckConstraint(
                condition=Q(
                    unanswered_since__isnull=True, patience_until__isnull=True, next_probe_at__isnull=True
                )
                | Q(unanswered_since__isnull=False, patience_until__isnull=False, tried_at__isnull=False),
                name="a_silence_has_a_beginning_and_an_end",
            ),
            models.CheckConstraint(
                condition=(Q(input_price__isnull=True) | Q(input_price__gte=0))
                & (Q(output_price__isnull=True) | Q(output_price__gte=0))
                & (Q(cached_price__isnull=True) | Q(cached_price__gte=0)),
                name="prices_not_negative",
            ),
            models.CheckConstraint(
                condition=(Q(requests_per_minute__isnull=True) | Q(requests_per_minute__gte=1))
                & (Q(tokens_per_minute__isnull=True) | Q(tokens_per_minute__gte=1)),
                name="limits_allow_something",
            ),
            models.CheckConstraint(
                # An admin chooses the server: the server may get no other secret of the host.
                condition=Q(key_variable="") | Q(key_variable__endswith="_API_KEY"),
                name="only_variables_of_keys_are_sent",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def has_prices(self) -> bool:
        """Return True if it has prices for models without a separate price."""
        return self.input_price is not None and self.output_price is not None


class ModelPrice(models.Model):
    """The price of a million tokens of one model at an endpoint; it takes precedence over all other
    prices.
    """

    endpoint = models.ForeignKey("judges.Endpoint", models.CASCADE, related_name="model_prices")
    model = models.CharField(max_length=120)
    input_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    output_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    cached_price = models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)
    batch_share = models.DecimalField(
        max_digits=4,
        decimal_places=3,
        null=True,
        blank=True,
        help_text="What the batch interface leaves of a price; empty: half.",
    )
    # The setting can change, and the price would then have another meaning.
    currency = models.CharField(max_length=3, help_text="The installation's when it was entered.")
    as_of = models.DateField(help_text="When somebody last looked the prices up.")

    class Meta:
        constraints = [
            models.UniqueConstraint("endpoint", "model", name="one_price_of_a_model"),
            models.CheckConstraint(
                condition=(Q(input_price__isnull=True) | Q(input_price__gte=0))
                & (Q(output_price__isnull=True) | Q(output_price__gte=0))
                & (Q(cached_price__isnull=True) | Q(cached_price__gte=0))
                & (Q(batch_share__isnull=True) | Q(batch_share__gte=0, batch_share__lte=1)),
                name="model_prices_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"prices of {self.model}"


class EndpointKey(models.Model):
    """The encrypted key of an endpoint, with the only server that may receive it."""

    endpoint = models.OneToOneField("judges.Endpoint", models.CASCADE, related_name="entered_key")
    # An admin can change the URL, and the key must not follow it to another server.
    origin = models.CharField(
        max_length=300, help_text="Scheme, host and port of the address for which it was entered."
    )
    # Endpoint and origin are encrypted with the key, and compared at each use.
    encrypted = models.TextField()
    ends_with = models.CharField(max_length=4, blank=True)
    entered_at = models.DateTimeField()
    entered_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(encrypted=""), name="entered_key_is_encrypted")]

    def __str__(self) -> str:
        return self.origin

    @property
    def is_used(self) -> bool:
        """Return True if the endpoint's URL still has the server for which the key was entered."""
        return self.origin == origin_of(self.endpoint.base_url)


class ModelPace(models.Model):
    """The last slowdown that an endpoint requested for a model; see `judges.runs.pacing.Slowdown`."""

    endpoint = models.ForeignKey("judges.Endpoint", models.CASCADE, related_name="paces")
    model = models.CharField(max_length=120)
    # Stored, so that the next worker of the endpoint keeps the pace.
    slowed_at = models.DateTimeField()
    resumes_at = models.DateTimeField()
    rate = models.FloatField(null=True, help_text="Calls a second that it answered before; empty: none.")
    climb_seconds = models.FloatField(help_text="In which calls come back to that rate.")

    class Meta:
        constraints = [models.UniqueConstraint("endpoint", "model", name="one_pace_of_a_model")]

    def __str__(self) -> str:
        return f"pace of {self.model}"


class LeaseHolder(models.Model):
    """The lease of the one worker that calls an endpoint; its key is also the `lease` of judgments.

    calls_in_flight: the number that it may have. run: the one that it started with. Workers of the version
    before read and write the rest, see docs/decisions/0047.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    run = models.ForeignKey("judges.Run", models.CASCADE, related_name="+")
    endpoint = models.ForeignKey("judges.Endpoint", models.CASCADE, related_name="lease_holders")
    calls_in_flight = models.PositiveIntegerField(default=0, db_column="places")
    wanted = models.PositiveIntegerField(default=0, help_text="Calls that it could have in flight.")
    draining = models.BooleanField(default=False, help_text="It only ends the calls in flight.")
    turn_began = models.DateTimeField(null=True, help_text="When it last began to have any calls.")
    alive_until = models.DateTimeField(help_text="Renewed by heartbeats; a holder is dead after it.")

    def __str__(self) -> str:
        return f"holder {self.pk}"
