"""The items that match a filter, in the query format of the item list."""

from django.http import QueryDict
from django.utils.translation import gettext

from annotate.core.models import Project
from annotate.items.forms import ItemFilterForm
from annotate.items.queries import select_keys
from judges.core.errors import invalid_field
from judges.runs.queries.samples import MOST_ITEMS


def filtered_items(project: Project, query: str) -> list[int]:
    """Return the ids of the items that match a filter such as `tag=hard&system=gpt`. Up to four queries.

    Raises InvalidValueError for an unknown word, because an ignored filter would cost money.
    """
    entered = QueryDict(query)
    form = ItemFilterForm(entered, project=project, shows_systems=True)
    chosen = form.chosen
    if unknown := [name for name in entered if name not in {*form.fields, "page"}] or list(form.errors):
        raise invalid_field("items", gettext("Items cannot be filtered by “{word}”.").format(word=unknown[0]))
    if not form.query:
        raise invalid_field("items", gettext("This filter finds all items: leave it empty for all."))
    found = select_keys(project, chosen)
    if not found:
        raise invalid_field("items", gettext("This filter finds no item."))
    if len(found) > MOST_ITEMS:
        message = gettext("This filter matches {count:,} items; choose up to {most:,}, or all.")
        raise invalid_field("items", message.format(count=len(found), most=MOST_ITEMS))
    return found
