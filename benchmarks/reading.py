"""How many words of the sources a rater is shown in both rounds, in either order of work.

python benchmarks/reading.py [--data ../shared/data]

The release of SummEval-OP (13 texts about each of 32 products, 7 dimensions, 3 raters) is rated anew in two
projects, one fully mixed and one by document: Concord hands out the items, is given the raters' values, opens
the disputes and numbers them. A source counts whenever it is another one than on the page before. The hours
beside are those of a reader at 238 words a minute (Brysbaert 2019).
"""

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.export import own_database
from benchmarks.stopping import clean_up_when_stopped

if TYPE_CHECKING:
    from annotate.core.models import Project

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
WORDS_A_MINUTE = 238
AIM = 1 / 8
SEED = 1


def measure(data: Path) -> bool:
    """Rate the release in both orders; print the words of each; return whether the aim is met."""
    import django

    django.setup()

    from django.core.management import call_command

    from annotate.core.models import Project

    call_command("migrate", verbosity=0)
    call_command("reproduce", "summeval-op", data=data, stdout=StringIO())
    release = Project.objects.get()
    print(f"{'words of sources for a rater':<30}{'Round I':>16}{'Round II':>18}")
    shown = {}
    for order in ("mixed", "by_document"):
        shown[order] = words_shown(release, order)
        cells = [f"{words:,.0f} ({words / WORDS_A_MINUTE / 60:.1f} h)" for words in shown[order]]
        print(f"{order:<30}{cells[0]:>16}{cells[1]:>18}")
    ratios = [one / other for one, other in zip(shown["by_document"], shown["mixed"], strict=True)]
    print(f"{'ratio':<30}{ratios[0]:>16.3f}{ratios[1]:>18.3f}")
    return max(ratios) <= AIM


def words_shown(release: "Project", order: str) -> tuple[float, float]:
    """Words of sources that a rater is shown in Round I, on average over raters, and in Round II."""
    from django.utils import timezone

    from annotate.core.models import Dispute, Rating
    from annotate.rating.commands.plans import choose_plan
    from annotate.rating.commands.rounds import close_round_one, open_round_one
    from annotate.rating.queries.assignments import own_order

    assignment_fields = ("item__document__key", "item__system__name", "annotator__label")
    recorded = Rating.objects.filter(assignment__round__project=release, assignment__round__number=1)
    given = {
        tuple(row[:-1]): row[-1]
        for row in recorded.values_list(
            *(f"assignment__{name}" for name in assignment_fields), "dimension__key", "value"
        )
    }
    project = unrated_copy(release, order)
    choose_plan(project=project, kind="everyone", work_order=order)
    round, now = open_round_one(project=project, by=None), timezone.now()
    owners = {row[0]: row[1:] for row in round.assignments.values_list("pk", *assignment_fields)}
    ratings = [
        Rating(
            assignment=each,
            dimension=dimension,
            value=given[document, system, rater, dimension.key],
            created_at=now,
            updated_at=now,
        )
        for each in round.assignments.all()
        for document, system, rater in [owners[each.pk]]
        for dimension in project.dimensions.all()
    ]
    Rating.objects.bulk_create(ratings, 500)
    close_round_one(project=project, by=None)
    length = {
        document.pk: sum(len(re.findall(r"\S+", part["text"])) for part in document.parts)
        for document in project.documents.all()
    }
    raters = list(project.memberships.filter(role="annotator"))
    first = [own_order(round, rater).values_list("item__document", flat=True) for rater in raters]
    second = Dispute.objects.filter(round=round).order_by("number").values_list("item__document", flat=True)
    return sum(words(each, length) for each in first) / len(raters), words(second, length)


def words(documents: Iterable[int], length: Mapping[int, int]) -> int:
    """Words of the sources in the order in which pages show them, once for each time they come up."""
    return sum(length[document] for document, _ in groupby(documents))


def unrated_copy(release: "Project", name: str) -> "Project":
    """The release's material, dimensions and raters in a project of its own, in which no round is open."""
    from annotate.core.models import Item, Project

    def copies(rows: Iterable[Any], **changed: object) -> list[Any]:
        made = []
        for row in rows:
            row.pk = None
            row._state.adding = True
            for field, value in changed.items():
                setattr(row, field, value)
            row.save()
            made.append(row)
        return made

    items = list(Item.objects.filter(document__project=release).select_related("document", "system"))
    raters = list(release.memberships.filter(role="annotator"))
    points = {each.key: list(each.points.all()) for each in release.dimensions.all()}
    dimensions = list(release.dimensions.all())
    documents, systems = list(release.documents.all()), list(release.systems.all())
    project: Project
    (project,) = copies([Project.objects.get(pk=release.pk)], slug=name, name=name, seed=SEED)
    own_documents = {each.key: each for each in copies(documents, project=project)}
    own_systems = {each.name: each for each in copies(systems, project=project)}
    for each in items:
        of = own_documents[each.document.key], own_systems[each.system.name]
        Item.objects.create(document=of[0], system=of[1], text=each.text, digest=each.digest)
    for each in copies(dimensions, project=project):
        copies(points[each.key], dimension=each)
    for rater in raters:  # orders are drawn from seed and pseudonyms: the same in every run
        copies([rater], project=project, pseudonym=f"R-{rater.alias}")
    return project


def main() -> None:
    """Fail where a rater is shown more than an eighth of the words."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=DATA, help="the releases")
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="concord-reading-") as name,
        own_database(Path(name)) as environment,
    ):
        os.environ.clear()
        os.environ.update(environment)
        if not measure(asked.data):
            sys.exit(f"By document a rater is shown more than {AIM:.3f} of the words.")


if __name__ == "__main__":
    main()
