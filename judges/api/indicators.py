"""The reliability indicator R of a pair of judges, beside what people say."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.access import project_for_reader
from annotate.api.forms import valid
from annotate.api.operations import ApiView, reads
from judges.comparison import CORRELATIONS
from judges.forms.reliability import PairForm
from judges.queries.pairings import measured_judges
from judges.queries.reliability import reliability_report


class IndicatorFilter(serializers.Serializer[Any]):
    """Which judges are meant, and which coefficient; what is not given is the usual one."""

    rts = serializers.IntegerField(required=False, min_value=1, help_text="Id of the judge that scores.")
    mcq = serializers.IntegerField(required=False, min_value=1, help_text="Id of the judge that chooses.")
    beside_people = serializers.ChoiceField(["rts", "mcq"], required=False)
    coefficient = serializers.ChoiceField(list(CORRELATIONS), required=False)
    units = serializers.ChoiceField(["all", "fresh"], required=False)


class Indicators(serializers.Serializer[Any]):
    """R, P and M by dimension and system."""

    rts = serializers.CharField()
    mcq = serializers.CharField()
    beside_people = serializers.CharField()
    coefficient = serializers.CharField()
    round = serializers.IntegerField(allow_null=True)
    seed = serializers.IntegerField()
    rated_units = serializers.IntegerField()
    settling_units = serializers.IntegerField()
    settling_units_left_out = serializers.BooleanField()
    dimensions = serializers.ListField(child=serializers.DictField())


class ReliabilityIndicators(ApiView):
    """Where a pair of judges can be trusted."""

    about = "indicators"

    @reads(Indicators, filters=(IndicatorFilter,))
    def get(self, request: Request, slug: str) -> Response:
        """Compute R by system and dimension, and how well it tells agreement with people."""
        project = project_for_reader(request.user, slug)
        chosen = {name: str(value) for name, value in self.filters(IndicatorFilter).items()}
        form = valid(PairForm(chosen, judges=measured_judges(project)))
        report = reliability_report(
            project,
            form.pairing(),
            coefficient=form.cleaned_data["coefficient"],
            beside_people=form.beside(),
            fresh=form.cleaned_data["units"] == "fresh",
        )
        return Response(report.as_dict())
