"""Experiments: variants of a judge, which one run then asks on the same items."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import valid
from annotate.api.operations import ApiView, writes
from annotate.api.values import Input, Number, Text, Whole
from annotate.core.access import project_for_admin
from annotate.core.page import request_user
from judges.core.models import Judge
from judges.endpoints.queries import templates_of, usable_judges
from judges.experiments.commands import make_variants
from judges.experiments.factors import SCALES, spec_of, variants_of
from judges.experiments.forms import ExperimentForm


class ExperimentInput(Input):
    """A judge, and the values that factors take besides its own."""

    base = Whole(help_text="The id of the judge that is varied; it is one of the variants.")
    prompts = serializers.ListField(
        child=Text(max_length=60),
        required=False,
        help_text="Ids of prompts, in quotes, or shipped:KEY of a method or of a wording of it.",
    )
    models = serializers.ListField(
        child=serializers.RegexField(r"^[^,]+$", max_length=100), required=False, help_text="At its endpoint."
    )
    temperatures = serializers.ListField(child=Number(min_value=0, max_value=2), required=False)
    samples = serializers.ListField(child=Whole(min_value=1, max_value=100), required=False)
    scales = serializers.ListField(
        child=serializers.ChoiceField(choices=list(SCALES)), required=False, help_text="Scales of its own."
    )
    orders = serializers.ListField(
        child=Text(max_length=20),
        required=False,
        help_text="Of the dimensions of one call, as a judge’s `call_order`, for methods that ask so.",
    )


class VariantRow(serializers.ModelSerializer[Judge]):
    """A judge of an experiment."""

    class Meta:
        model = Judge
        fields = ("id", "name")


class VariantsShape(serializers.Serializer[Any]):
    """The judges of an experiment, for a run over the same sample of documents."""

    judges = VariantRow(many=True)


class Experiments(ApiView):
    """The experiments of a project."""

    about = "judges"

    @writes(VariantsShape, accepts=ExperimentInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Make the judge of each combination of values; one that is there is taken as it is.

        Nothing is asked: plan a run of these judges, with `documents` for a sample.
        """
        project, sent = project_for_admin(request.user, slug), self.check(ExperimentInput)
        for name in ("models", "temperatures", "samples"):
            sent[name] = ", ".join(map(str, sent.get(name, ())))
        form = valid(ExperimentForm(sent, judges=usable_judges(project), templates=templates_of(project)))
        base = spec_of(form.cleaned_data["base"], list(project.dimensions.all()))
        variants = variants_of(base, form.factors())
        made = make_variants(project=project, variants=variants, by=request_user(request))
        return Response(VariantsShape({"judges": made}).data, status=201)
