"""Results: every table and plot that a page of results shows, by the same name."""

from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import gettext
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api.operations import READ_ERRORS, ApiView, operation, reads
from annotate.core.access import project_for_reader
from annotate.core.models import Project
from annotate.results.figures import load_figures, plot_of
from annotate.results.latex import CONTENT_TYPES as TABLE_TYPES
from annotate.results.latex import writer_of
from annotate.results.plots import CONTENT_TYPES, draw
from annotate.results.queries.kept import KeptPage, plain_pages, plain_result
from annotate.results.registry import PAGES, Result, result_of

CHOSEN = OpenApiParameter(
    "parameters",
    {"type": "object", "additionalProperties": {"type": "string"}},
    OpenApiParameter.QUERY,
    style="form",
    explode=True,
    description="Choices for the result, by the names in the list of results. Default: the first of each.",
)


class RowsFilter(serializers.Serializer[Any]):
    """The selection of rows of long tables."""

    most_rows = serializers.IntegerField(
        default=500,
        min_value=1,
        max_value=1_000_000,
        help_text="Maximum number of rows per table. `rows_in_all` counts all rows; files contain them all.",
    )


class PageRow(serializers.Serializer[Any]):
    """A result: its name, subject and options."""

    name = serializers.CharField()
    title = serializers.CharField()
    says = serializers.CharField()
    parameters = serializers.ListField(child=serializers.CharField())


class SectionShape(serializers.Serializer[Any]):
    """Tables under one heading: each has a key, columns, and rows of cells."""

    title = serializers.CharField()
    says = serializers.CharField()
    tables = serializers.ListField(child=serializers.DictField())
    anchor = serializers.CharField(help_text="Anchor on its page, empty if it has none.")


class ResultShape(PageRow):
    """A result with its statistics; without any (`current` false) a worker is computing them:

    request it again later.
    """

    chosen = serializers.DictField(child=serializers.CharField())
    choices = serializers.DictField(child=serializers.ListField(child=serializers.DictField()))
    current = serializers.BooleanField(help_text="Whether the results are up to date with the data.")
    computed_at = serializers.DateTimeField(allow_null=True)
    problem = serializers.CharField(help_text="Why the last computing failed, or nothing.")
    answer = serializers.CharField(help_text="The sentence at the top of its page; empty if it has none.")
    warnings = serializers.ListField(child=serializers.CharField())
    sections = SectionShape(many=True)


class Results(ApiView):
    """The results of a project."""

    about = "results"

    @reads(PageRow, many=True)
    def get(self, request: Request, slug: str) -> Response:
        """List the available results, each with its options."""
        project_for_reader(request.user, slug)
        return Response(plain_pages())


class ResultView(ApiView):
    """A result."""

    about = "results"

    @operation(
        {200: ResultShape},
        (*READ_ERRORS, 422),
        scopes=("read",),
        parameters=[CHOSEN, RowsFilter],
        request=None,
    )
    def get(self, request: Request, slug: str, name: str) -> Response:
        """Show a result: the tables of its page, each value with interval, count and method."""
        project = project_for_reader(request.user, slug)
        result, kept = _result_or_404(request, project, name)
        return Response(plain_result(result, kept, **self.filters(RowsFilter)))


class ResultFile(ApiView):
    """A table or a plot of a result as a file."""

    about = "results"

    @operation(
        {(200, "text/csv"): OpenApiTypes.STR, (200, "image/svg+xml"): OpenApiTypes.STR},
        (*READ_ERRORS, 422),
        scopes=("read",),
        parameters=[CHOSEN],
        request=None,
    )
    def get(self, request: Request, slug: str, name: str, key: str, ending: str) -> HttpResponse:
        """Send a table as csv, json, md or tex, or its plot as svg, pdf or png; 404 until it is computed."""
        project = project_for_reader(request.user, slug)
        result, kept = _result_or_404(request, project, name)
        table = kept.table(key)
        if table is None:
            raise Http404(gettext("There is no such table, or it is still being computed."))
        if ending in TABLE_TYPES:
            content = writer_of(ending, project, request.query_params)(table)
            return HttpResponse(content, content_type=TABLE_TYPES[ending])
        # Without rows there is nothing to plot.
        if ending not in CONTENT_TYPES or not (table.plot and table.rows):
            raise Http404(gettext("There is no such file of this result."))
        # Pages show the SVG, so it is stored. Each request renders other formats.
        drawn = plot_of(project, result, kept, table) if ending == "svg" else draw(table, ending)
        return HttpResponse(drawn, content_type=CONTENT_TYPES[ending])


def _result_or_404(request: Request, project: Project, name: str) -> tuple[Result, KeptPage]:
    if name not in PAGES:
        raise Http404(gettext("There is no such result; there are {names}.").format(names=", ".join(PAGES)))
    result = result_of(project, name, request.query_params.dict())
    return result, load_figures(project, result)
