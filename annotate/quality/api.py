"""Gold items, for practice or hidden in Round I, and how much of practice must be right."""

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
    """What is right on a dimension, and why."""

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
    """What is right on a dimension, and why."""

    dimension = Text(max_length=200, help_text="The dimension's key.")
    value = Points(min_value=-1000, max_value=1000)
    explanation = Text(required=False, allow_blank=True)


class GoldInput(Input):
    """What is right about an item, in place of what was said before."""

    explanation = Text(required=False, allow_blank=True, help_text="About the item as a whole.")
    values = RightValueInput(many=True)


class PracticeBar(serializers.Serializer[Any]):
    """How much of practice must be right."""

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
        """Take an item out of the work of Round I, before it opens, for practice or to be hidden in it."""
        project = project_for_admin(request.user, slug)
        chosen = valid(MarkForm(self.check(MarkInput), project=project)).cleaned_data
        made = mark_gold(project=project, item=chosen["item"], use=chosen["use"])
        return Response(GoldRow(made).data, status=201)


class OneGold(ApiView):
    """A gold item."""

    about = "gold"

    @writes(GoldRow, accepts=GoldInput)
    def put(self, request: Request, slug: str, pk: int) -> Response:
        """Say what is right about a gold item; what is not named is neither practised nor checked."""
        project = project_for_admin(request.user, slug)
        gold, sent = gold_in(project, pk), self.check(GoldInput)
        values = _by_dimension(project, sent["values"])
        describe_gold(project=project, gold=gold, explanation=sent.get("explanation", ""), values=values)
        return Response(GoldRow(gold_in(project, pk)).data)

    @writes(None, status=204)
    def delete(self, request: Request, slug: str, pk: int) -> Response:
        """Make it an ordinary item again, before Round I opens."""
        project = project_for_admin(request.user, slug)
        unmark_gold(project=project, gold=gold_in(project, pk))
        return Response(status=204)


class BarOfPractice(ApiView):
    """How much of practice must be right before Round I."""

    about = "gold"

    @writes(PracticeBar, accepts=BarInput)
    def put(self, request: Request, slug: str) -> Response:
        """Set the percentage that must be right, or none (null) where practice is not asked for."""
        project = project_for_admin(request.user, slug)
        bar = valid(BarForm(self.check(BarInput))).cleaned_data["practice_bar"]
        set_practice_bar(project=project, bar=bar)
        return Response({"practice_bar": bar})


def _by_dimension(project: Project, sent: list[dict[str, Any]]) -> dict[int, RightValue]:
    keys = dict(project.dimensions.values_list("key", "pk"))
    if unknown := {each["dimension"] for each in sent} - keys.keys():
        raise Http404(gettext("There is no dimension {dimension}.").format(dimension=sorted(unknown)[0]))
    return {keys[each["dimension"]]: RightValue(each["value"], each.get("explanation", "")) for each in sent}
