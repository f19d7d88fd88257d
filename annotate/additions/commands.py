"""Create an addition: a project with the outputs of new systems, the benchmark's guideline and bridging
items.

See docs/decisions/0046-additions-are-projects.md.
"""

from collections.abc import Mapping, Sequence

from django.core.files.base import ContentFile
from django.db import transaction
from django.utils.translation import gettext

from annotate.additions.queries import (
    RatedOutput,
    additions_of,
    choose_bridging,
    guideline_of_additions,
    new_systems,
    rated_in_round_one,
    refuse_unfinished,
)
from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError
from annotate.core.guideline import DIMENSION_FIELDS, FrozenGuideline
from annotate.core.guidelines import current_guideline
from annotate.core.models import (
    Addition,
    BridgingItem,
    Dimension,
    Document,
    GoldItem,
    GoldValue,
    GuidelineImage,
    Item,
    ItemPart,
    Project,
    Role,
    ScalePoint,
    System,
    User,
    text_digest,
)
from annotate.core.rendering.texts import choose_format
from annotate.material.commands.copying import copy_documents
from annotate.people.commands import add_member
from annotate.rating.commands.plans import choose_plan
from annotate.setup.commands import create_project

MOST_OUTPUTS = 20_000
BRIDGING_EVERY = 1
"""A bridging item comes after each ordinary item until all were met, so that severity is known early."""


@transaction.atomic
def add_systems(
    *, project: Project, outputs: Mapping[str, Mapping[str, str]], bridging: int, by: User | None
) -> Addition:
    """Create an addition with outputs of new systems, by system name and document key.

    bridging: the maximum number of benchmark items that raters of the addition rate again. Locks the
    benchmark, which does not change. Raises NotReadyError unless it is finished, InvalidValueError for
    outputs that do not fit it.
    """
    # The check of the rounds follows the lock, so no one opens Round II in between.
    benchmark = lock_project(project)
    refuse_unfinished(benchmark)
    documents = _check_outputs(benchmark, outputs)
    # The lock on the benchmark gives simultaneous additions different numbers.
    number = (additions_of(benchmark).values_list("number", flat=True).first() or 0) + 1
    guideline = guideline_of_additions(benchmark)
    child = _make_project(benchmark, guideline, number, by)
    addition = Addition.objects.create(project=child, benchmark=benchmark, number=number, created_by=by)
    chosen = choose_bridging(benchmark, rated_in_round_one(benchmark), number, bridging)
    # Other documents of the benchmark are not copied: no item of the addition is about them.
    used = {*documents.values(), *(each.document for each in chosen)}
    copies = copy_documents(benchmark, child, used)
    for name, texts in outputs.items():
        system = System.objects.create(project=child, name=name)
        Item.objects.bulk_create(
            Item(
                document=copies[documents[key]],
                system=system,
                text=text,
                digest=text_digest(text),
                format=choose_format(text, ""),
            )
            for key, text in texts.items()
        )
    _copy_bridging(child, chosen, copies)
    # Bridging items are gold items, so the plan for gold sets their frequency.
    choose_plan(project=child, kind="queue", gold_every=BRIDGING_EVERY if chosen else 0)
    facts = {"benchmark": benchmark.slug, "systems": sorted(outputs), "bridging": len(chosen)}
    record(child, "addition.made", child, after=facts, by=by)
    return addition


@transaction.atomic
def invite_first_raters(*, addition: Addition, by: User | None) -> int:
    members = addition.benchmark.memberships.filter(role=Role.ANNOTATOR, active=True, user__isnull=False)
    for each in members.order_by("pk"):
        add_member(project=addition.project, role=Role.ANNOTATOR, user=each.user, label=each.label)
    record(addition.project, "addition.raters_copied", addition.project, by=by)
    return members.count()


def _check_outputs(benchmark: Project, outputs: Mapping[str, Mapping[str, str]]) -> dict[str, int]:
    """Return the ids of the documents of the outputs, by document key. Raises InvalidValueError."""
    keys = {key for texts in outputs.values() for key in texts}
    known = dict(benchmark.documents.filter(key__in=keys).values_list("key", "pk"))
    problem = ""
    if not keys:
        problem = gettext("There are no outputs.")
    elif sum(map(len, outputs.values())) > MOST_OUTPUTS:
        problem = gettext("An addition has at most {most:,} outputs.").format(most=MOST_OUTPUTS)
    elif missing := sorted(keys - known.keys()):
        problem = gettext("The benchmark has no document “{key}”.").format(key=missing[0])
    elif taken := sorted(set(outputs) & _list_system_names(benchmark)):
        problem = gettext("The benchmark or an addition has a system “{name}” already.").format(name=taken[0])
    elif any(not name.strip() or len(name) > 200 for name in outputs):
        problem = gettext("Every system needs a name of at most 200 characters.")
    elif empty := [
        (name, key) for name, texts in outputs.items() for key, text in texts.items() if not text.strip()
    ]:
        problem = gettext("The output of “{name}” for “{key}” is empty.").format(
            name=empty[0][0], key=empty[0][1]
        )
    if problem:
        raise InvalidValueError(problem, fields={"file": problem})
    return known


def _list_system_names(benchmark: Project) -> set[str]:
    own = set(benchmark.systems.values_list("name", flat=True))
    return own | {name for names in new_systems(list(additions_of(benchmark))).values() for name in names}


def _make_project(benchmark: Project, guideline: FrozenGuideline, number: int, by: User | None) -> Project:
    suffix = gettext("addition {number}").format(number=number)
    # A name has up to 150 characters: the benchmark's name, a space and the suffix.
    child = create_project(user=by, name=f"{benchmark.name[: 149 - len(suffix)]} {suffix}")
    for name in ("guidelines", "raters_per_item", "dispute_threshold", "tolerance"):
        setattr(child, name, getattr(guideline, name))
    child.description, child.reservation_minutes = benchmark.description, benchmark.reservation_minutes
    child.keep_reasons = benchmark.keep_reasons
    child.save()
    # Thresholds of disputes are not part of the frozen dimensions, so they come from the current ones.
    rules = {each.key: each for each in benchmark.dimensions.all()}
    for position, frozen in enumerate(guideline.dimensions, start=1):
        rule = rules.get(frozen.key)
        dimension = Dimension.objects.create(
            project=child,
            key=frozen.key,
            position=position,
            dispute_threshold=rule.dispute_threshold if rule else None,
            tolerance=rule.tolerance if rule else None,
            **{field: getattr(frozen, field) for field in DIMENSION_FIELDS},
        )
        ScalePoint.objects.bulk_create(
            ScalePoint(dimension=dimension, value=each.value, label=each.label, description=each.description)
            for each in frozen.points
        )
    for image in benchmark.images.order_by("pk"):
        copy = GuidelineImage(project=child, key=image.key, name=image.name, added_by=image.added_by)
        # A copy of the file, because removing an image from a project also deletes its file.
        with image.file.open("rb") as file:
            copy.file.save(image.key, ContentFile(file.read()), save=False)
        copy.save()
    # Admins and researchers follow the addition in any case; annotators join only if an admin chooses so.
    watching = benchmark.memberships.filter(
        role__in=[Role.ADMIN, Role.RESEARCHER], active=True, user__isnull=False
    )
    for member in watching.order_by("pk"):
        add_member(project=child, role=Role(member.role), user=member.user, label=member.label)
    # Ratings under another guideline could not be compared with the ones of the benchmark.
    if drop_dimension_ids(current_guideline(child)) != drop_dimension_ids(guideline):
        raise RuntimeError(f"The guideline of {child.slug} differs from that of {benchmark.slug}.")
    return child


def drop_dimension_ids(guideline: FrozenGuideline) -> dict[str, object]:
    content = guideline.to_json()
    for dimension in content["dimensions"]:
        del dimension["id"]
    return content


def _copy_bridging(child: Project, chosen: Sequence[RatedOutput], copies: Mapping[int, Document]) -> None:
    """Copy the bridging items as hidden gold items. Their gold values are the means of the first raters."""
    dimensions = {each.key: each for each in child.dimensions.all()}
    originals = Item.objects.select_related("system").in_bulk([each.item for each in chosen])
    # Bridging items bring systems of the benchmark, which are not new: their items are gold items.
    systems = {}
    for each in chosen:
        original = originals[each.item]
        name = original.system.name
        if name not in systems:
            systems[name] = System.objects.create(project=child, name=name)
        fields = ("kind", "text", "digest", "format", "metadata")
        copy = Item.objects.create(
            document=copies[each.document],
            system=systems[name],
            **{name: getattr(original, name) for name in fields},
        )
        ItemPart.objects.bulk_create(
            ItemPart(item=copy, position=part.position, text=part.text) for part in original.parts.all()
        )
        # Raters meet it among the hidden checks, so they do not know which items are bridging items.
        gold = GoldItem.objects.create(item=copy, use=GoldItem.Use.HIDDEN)
        BridgingItem.objects.create(gold=gold, original=original)
        GoldValue.objects.bulk_create(
            GoldValue(gold=gold, dimension=dimensions[key], value=mean) for key, mean in each.means.items()
        )
