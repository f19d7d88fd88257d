"""A project whose texts are as long as published ones: eight reviews a document, seven dimensions."""

from annotate.core.models import Document, Item
from annotate.setup.commands import add_dimension
from annotate.setup.presets import TEMPLATES
from tests.factories import Cast, make_project

REVIEW = """\
I bought this kettle in the spring, after the old one had begun to leak, and have used it every day
since. It boils a litre in a little over three minutes, which is as fast as the maker claims, and it
is quiet enough for a conversation to go on beside it. The lid opens wide, so that limescale is easy
to reach; the filter, however, comes loose when the last of the water is poured, and twice it has
fallen into my cup. The handle stays cool. The base is light and slides about on a smooth worktop.
When I wrote to the shop about the filter they answered within a day and sent another, which fits no
better. The temperature setting is what I bought it for: 80 degrees for green tea is right to within
two degrees by my thermometer, and it keeps the water there for half an hour without a sound. I
would not give it back, but somebody who only wants boiling water pays too much for it. """
SUMMARY = """\
Reviewers agree that the kettle is fast and quiet, and most praise its temperature setting for green
tea. The handle stays cool and the wide lid makes cleaning easy. Several report that the filter
comes loose while pouring, and that a replacement did not help, although the shop answered quickly.
Some find the base too light. Opinions about the price differ: whoever uses the temperature setting
finds it fair, others call it expensive for a kettle."""


def make_long_project(*, documents: int = 1, systems: int = 2) -> Cast:
    """Make a project without a round, with seven dimensions and texts of a few hundred words."""
    cast = make_project(dimensions=(), documents=documents, systems=systems)
    for dimension in TEMPLATES["opinion-summaries"].dimensions:
        add_dimension(project=cast.project, dimension=dimension)
    parts = [{"label": f"Review {n}", "text": " ".join((REVIEW * 2).split())} for n in range(1, 9)]
    Document.objects.filter(project=cast.project).update(parts=parts)
    Item.objects.filter(document__project=cast.project).update(text=" ".join(SUMMARY.split()))
    return cast
