"""Lists in pages. Each page has the URL of the next, which remains correct while rows are added or
deleted.
"""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.pagination import Cursor, CursorPagination
from rest_framework.request import Request

LARGEST_KEY = 2**63 - 1


class PageFilter(serializers.Serializer[Any]):
    """The requested part of a list."""

    cursor = serializers.CharField(required=False, help_text="From the `next` or `previous` of another page.")
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=500, help_text="Rows on a page; 100 where it is not given."
    )


class CursorPages(CursorPagination):
    """Pages of rows in the order of their keys."""

    ordering = "pk"
    page_size = 100
    page_size_query_param = "limit"
    max_page_size = 500

    def decode_cursor(self, request: Request) -> Cursor | None:
        """Return the cursor. Answers 404 for an invalid one."""
        cursor = super().decode_cursor(request)
        if cursor and cursor.position is not None:
            position = str(cursor.position)
            if not (position.isascii() and position.isdecimal() and int(position) <= LARGEST_KEY):
                raise NotFound(self.invalid_cursor_message)
        return cursor


def page_of(rows: type[serializers.BaseSerializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a page of these rows."""
    fields = {
        "next": serializers.CharField(allow_null=True, help_text="The address of the next page."),
        "previous": serializers.CharField(allow_null=True, help_text="The address of the page before."),
        "results": rows(many=True),
        "__doc__": f"A page of {rows.__name__}.",
    }
    return type(f"{rows.__name__}Page", (serializers.Serializer,), fields)
