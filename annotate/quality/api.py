"""Gold items, for practice or hidden in Round I, and the required share of right practice answers."""

from typing import Any

from django.http import Http404
from django.utils.translation import gettext
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.forms import form_input, valid
from annotate.api.operations import ApiView, reads, writes
from annotate.api.values import Input, Points, Text
from annotate.core.access import gold_in, project_for_admin
from annotate.core.models import GoldItem, GoldValue, Project
from annotate.quality.commands import RightValue, describe_gold, mark_gold, set_practice_bar, unmark_gold
from annotate.quality.forms import BarForm, MarkForm
from annotate.quality.queries import gold_of

MarkInput = form_input("MarkInput", MarkForm)
BarInput = form_input("BarInput", BarForm)


class RightValueRow(serializers.ModelSerializer[GoldValue]):
    """The right value on a dimension, and the reason."""

    dimension = serializers.CharField(source="dimension.key")
    value = Points()

    class Meta:
        model = GoldValue
        fields = ("dimension", "value", "explanation")


class GoldRow(serializers.ModelSerializer[GoldItem]):
    """A gold item."""

    document = serializers.CharField(source="item.document.key")
    system = serializers.CharField(source="item.system.name")
    values = RightValueRow(many=True)

    class Meta:
        model = GoldItem
        fields = ("id", "document", "system", "use", "explanation", "values")


class RightValueInput(Input):
    """The right value on a dimension, and the reason."""

    dimension = Text(max_length=200, help_text="The dimension's key.")
    value = Points(min_value=-1000, max_value=1000)
    explanation = Text(required=False, allow_blank=True)


class GoldInput(Input):
    """The right values of an item, which replace the earlier ones."""

    explanation = Text(required=False, allow_blank=True, help_text="About the item as a whole.")
    values = RightValueInput(many=True)


class PracticeBar(serializers.Serializer[Any]):
    """The required percentage of right practice answers."""

    practice_bar = serializers.IntegerField(allow_null=True, help_text="In percent; null: no practice.")


class Gold(ApiView):
    """The gold items of a project."""

    about = "gold"

    @reads(GoldRow, paged=True)
    def get(self, request: Request, slug: str) -> Response:
        """List gold items with their right values, for admins."""
        found = gold_of(project_for_admin(request.user, slug))
        return self.page(found.prefetch_related("values__dimension"), GoldRow)

    @writes(GoldRow, accepts=MarkInput, status=201)
    def post(self, request: Request, slug: str) -> Response:
        """Remove an item from the work of Round I, before it opens, for practice or as a hidden check."""
        project = project_for_admin(request.user, slug)
        chosen = valid(MarkForm(self.check(MarkInput), project=project)).cleaned_data
        made = mark_gold(project=project, item=chosen["item"], use=chosen["use"])
        return Response(GoldRow(made).data, status=201)


class GoldItemView(ApiView):
    """A gold item."""

    about = "gold"

    @writes(GoldRow, accepts=GoldInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Store the right values of a gold item.

        Other dimensions are not practised or checked.
        """
        project = project_for_admin(request.user, slug)
        gold, sent = gold_in(project, pk), self.check(GoldInput)
        values = _answers_by_dimension(project, sent["values"])
        describe_gold(project=project, gold=gold, explanation=sent.get("explanation", ""), values=values)
        return Response(GoldRow(gold_in(project, pk)).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Make it an ordinary item again, before Round I opens."""
        project = project_for_admin(request.user, slug)
        unmark_gold(project=project, gold=gold_in(project, pk))
        return Response(status=204)


class BarOfPractice(ApiView):
    """The required percentage of right practice answers before Round I."""

    about = "gold"

    @writes(PracticeBar, accepts=BarInput)
    def put(self, request: Request, slug: str) -> Response:
        """Set the percentage that must be right; null switches practice off."""
        project = project_for_admin(request.user, slug)
        bar = valid(BarForm(self.check(BarInput))).cleaned_data["practice_bar"]
        set_practice_bar(project=project, bar=bar)
        return Response({"practice_bar": bar})


def _answers_by_dimension(project: Project, sent: list[dict[str, Any]]) -> dict[int, RightValue]:
    keys = dict(project.dimensions.values_list("key", "pk"))
    if unknown := {each["dimension"] for each in sent} - keys.keys():
        raise Http404(gettext("There is no dimension {dimension}.").format(dimension=sorted(unknown)[0]))
    return {keys[each["dimension"]]: RightValue(each["value"], each.get("explanation", "")) for each in sent}
