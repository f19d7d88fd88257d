"""Read-only queries about setup, each with a fixed number of SQL queries."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db.models import Case, Count, Exists, ForeignKey, Model, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotate.core.files import image_keys_in
from annotate.core.guideline import (
    DimensionSpec,
    FrozenDimension,
    FrozenGuideline,
    Picture,
    PointSpec,
    ProjectTemplate,
    TemplateSettings,
)
from annotate.core.guidelines import Change, changes_of_wording, current_guideline, frozen_guideline
from annotate.core.models import (
    Assignment,
    Dimension,
    Guideline,
    GuidelineImage,
    Invitation,
    Item,
    ItemPart,
    Membership,
    Project,
    ProjectDeletion,
    Rating,
    Role,
    Round,
    SavedTemplate,
    TextFormat,
    User,
)
from annotate.core.models.ratings import has_answer
from annotate.core.models.rounds import rounds_of_study
from annotate.core.rounds import rounds_of
from annotate.core.strings import read_number, split_sentences
from annotate.fastpath.queries import MOMENT, NUMBERS, compile_once
from annotate.questions import KINDS, ItemContent, kind_of
from annotate.rating.queries.work import ItemPage, Row, order_sides
from annotate.setup.presets import TEMPLATES
from annotate.setup.template_file import read_template

# Uses of an image in a project's guidelines.


def uses_of_image(project: Project, key: str) -> list[str]:
    """Return in words the uses of an image, now or in a version with ratings."""
    guideline = current_guideline(project)
    uses = [gettext("the guidelines for all dimensions")] if key in guideline.guidelines else []
    uses += [each.name for each in guideline.dimensions if key in each.guidelines]
    # A key is a hash of the image, so a search in the whole JSON finds nothing else.
    frozen = project.guideline_versions.order_by("version").values_list("version", "content")
    return uses + [
        f"guideline version {version}" for version, content in frozen if key in json.dumps(content)
    ]


def earlier_questions(project: Project, dimension: Dimension | None) -> list[Dimension]:
    """Return the questions before one, or all of them for a new one. Two queries."""
    questions = project.dimensions.prefetch_related("points")
    return list(questions.filter(position__lt=dimension.position) if dimension else questions)


def material_of_questions(project: Project) -> dict[str, int]:
    """Return the project's counts of the comparisons and parts that its questions need. Two queries."""
    kinds = set(project.dimensions.values_list("kind", flat=True))
    items = Item.objects.filter(document__project=project)
    is_output = Q(kind=Item.Kind.OUTPUT)
    has_parts = Exists(ItemPart.objects.filter(item=OuterRef("pk")))
    counts = items.aggregate(
        outputs=Count("pk", filter=is_output),
        comparisons=Count("pk", filter=~is_output),
        with_parts=Count("pk", filter=is_output & Q(has_parts)),
    )
    return {"compares": any(KINDS[kind].compares for kind in kinds), "has_parts": "parts" in kinds, **counts}


# The annotator's screen before Round I, with a real item and without answers.


def preview_page(project: Project, number: int) -> tuple[ItemPage, FrozenGuideline]:
    """Return the page of the project's item of this number, from 1, and its guideline. Eight queries.

    The page stores no rows: the assignment, its round and guideline exist on this page only.
    """
    guideline = current_guideline(project)
    version = Guideline(project=project, version=1, digest=guideline.digest(), content=guideline.to_json())
    round = Round(project=project, number=1, guideline=version, status=Round.Status.OPEN)
    compares = [each for each in guideline.dimensions if kind_of(each).compares]
    single = [each for each in guideline.dimensions if not kind_of(each).compares]
    kinds = [Item.Kind.OUTPUT] if single or not compares else []
    kinds += sorted({Item.Kind(kind_of(each).item_kind) for each in compares})
    items = Item.objects.filter(document__project=project, kind__in=kinds)
    by_kind = dict(items.order_by().values_list("kind").annotate(Count("pk")))
    # Without comparisons, an example page shows their questions.
    lacks_example = bool(compares) and not set(by_kind) - {Item.Kind.OUTPUT}
    # Without items there is one page, which shows an example.
    last = max(sum(by_kind.values()), 1 if Item.Kind.OUTPUT in kinds else 0) + lacks_example
    number = min(max(number, 1), last)
    found = items.select_related("document").prefetch_related("sides__output", "parts")
    # Outputs come first, then comparisons of each kind.
    item = found.order_by(Case(When(kind=Item.Kind.OUTPUT, then=0), default=1), "kind", "pk")[
        number - 1 : number
    ].first()
    is_comparison = item.is_comparison if item else lacks_example and number == last
    example = gettext("Here stands the document that the text is about.")
    part = {"label": gettext("Part {number}").format(number=1), "text": example}
    document_parts = item.document.parts if item else [part]
    text = item.text if item else gettext("Here stands the text to rate. Import items to see yours.")
    if is_comparison:
        content = _content_of_sides(
            item, sides=2 if any(each.kind == "preference" for each in compares) else 3
        )
    else:
        parts = [each.text for each in item.parts.all()] if item else []
        texts = [text, *(part["text"] for part in document_parts)]
        content = ItemContent(texts=texts, parts=parts or split_sentences(text))
    asked = compares if is_comparison else single
    if is_comparison:
        item_kind = item.kind if item else kind_of(compares[0]).item_kind
        asked = [each for each in compares if kind_of(each).item_kind == item_kind]
    return ItemPage(
        assignment=Assignment(round=round, position=number),
        title=item.document.title if item else gettext("A document"),
        parts=document_parts,
        text=text,
        format=item.format if item else TextFormat.PLAIN,
        sides=order_sides(content, len(document_parts)),
        rows=[Row(dimension, None, content) for dimension in asked],
        previous=number - 1 if number > 1 else None,
        next=number + 1 if number < last else None,
    ), guideline


def _content_of_sides(item: Item | None, *, sides: int) -> ItemContent:
    example = gettext("Here stands output {number}. Draw comparisons to see yours.")
    outputs = [each.output for each in item.sides.all()] if item else []
    texts = [each.text for each in outputs]
    texts = texts or [example.format(number=number) for number in range(1, sides + 1)]
    formats = [each.format for each in outputs] or [TextFormat.PLAIN.value] * len(texts)
    return ItemContent(sides=texts, formats=formats, order=range(len(texts)))


# All rows that belong to a project, whichever app they are of, in the order in which they can be deleted.


def rows_of_project(project: Project) -> Iterator[QuerySet[Model]]:
    """Yield the rows of every table of the project; rows that refer to others come first."""
    paths = _paths()
    for model in _referring_first(list(paths)):
        # A model's own manager may omit rows, such as the round of checks, which must be deleted, too.
        yield model._base_manager.filter(**{paths[model]: project})


def counts_of_project(project: Project) -> list[tuple[str, int]]:
    """Return the number of rows of each kind in a project, the most first. A query for each table.

    Histories are excluded: they have a row or more for each counted one, and take longest to count. Tables
    that only Concord itself writes are also excluded, because they follow from the others.
    """
    own: dict[Any, list[int]] = {
        model: list(model._base_manager.filter(project=project).values_list("pk", flat=True))
        for model in (Dimension, Membership, Round)
    }
    counts = [
        (str(model._meta.verbose_name_plural), _rows_by(path, project, own, model).count())
        for model, path in _paths().items()
        if not model.__name__.endswith("Change") and model.__name__ not in DERIVED
    ]
    return sorted(((name, count) for name, count in counts if count), key=lambda each: (-each[1], each[0]))


DERIVED = {"ChangeCount", "ComputedResult", "DisputeEvent", "DisputeLook", "DisputeRater"}


def _rows_by(
    path: str, project: Project, own: Mapping[Any, Sequence[int]], model: type[Model]
) -> QuerySet[Model]:
    """Return a model's rows of a project; by keys if they refer to its rounds, dimensions or people.

    To join a million ratings to seven dimensions takes three times as long as to compare their keys.
    """
    first, _, rest = path.partition("__")
    target = model._meta.get_field(first).related_model
    if rest == "project" and target in own:
        return model._base_manager.filter(**{f"{first}__in": own[target]})
    return model._base_manager.filter(**{path: project})


def _paths() -> dict[type[Model], str]:
    """Return the lookup from each model's rows to their project: the shortest chain of references."""
    paths: dict[type[Model], str] = {Project: ""}
    reached: list[type[Model]] = [Project]
    # Level by level: the first chain to a model is the shortest.
    while reached:
        reached = [
            model
            for model in apps.get_models(include_auto_created=True)
            if model not in paths and any(target in reached for target in _targets(model))
        ]
        for model in reached:
            field, target = next(
                (f, t) for t, f in _targets(model).items() if t in paths and t not in reached
            )
            paths[model] = f"{field}__{paths[target]}" if paths[target] else field
    del paths[Project], paths[ProjectDeletion]  # the permission goes last
    return paths


def _targets(model: type[Model]) -> dict[type[Model], str]:
    references = [each for each in _references(model) if not each.null or each.related_model is Project]
    return {each.related_model: each.name for each in references}


OF_OTHER_PROJECTS = {
    "annotate.Addition.benchmark",
    "annotate.BridgingItem.original",
    "annotate.Edition.follows",
}
"""References of a project's rows to rows of another project, to which they do not belong."""


def _references(model: type[Model]) -> list[ForeignKey[Any, Any]]:
    keys = [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]
    return [field for field in keys if str(field) not in OF_OTHER_PROJECTS]


def _referring_first(models: list[type[Model]]) -> Iterator[type[Model]]:
    left = list(models)
    while left:
        references = [
            field for model in left for field in _references(model) if field.related_model is not model
        ]
        # In a cycle nullable references do not count: no row belongs to a project by one of them, and the
        # database checks references at the end of the transaction.
        for counted in (references, [each for each in references if not each.null]):
            referred = {each.related_model for each in counted}
            if free := [model for model in left if model not in referred]:
                break
        free = free or left[:1]
        yield from free
        left = [model for model in left if model not in free]


# Progress of the set-up: five steps, computed from the existing data and not stored.


@dataclass(frozen=True)
class SetupStep:
    """A step: the route of its page, whether it is done, and its progress in a few words."""

    name: str
    route: str
    done: bool
    says: str


@dataclass(frozen=True)
class Setup:
    steps: list[SetupStep]
    needed: list[str]
    advised: list[str]
    current: SetupStep | None = None
    next: SetupStep | None = None

    @property
    def can_open(self) -> bool:
        return not self.needed


COMPARING = [kind.key for kind in KINDS.values() if kind.compares]

# The pages of each step; the first is the one that its link leads to.
PAGES = {
    "data": ("imports", "data_import"),
    "dimensions": ("dimensions", "dimension", "dimension_new", "images", "comparisons", "item_parts"),
    "people": ("people", "person"),
    "rounds": ("settings", "plan", "dispute_rules", "gold", "gold_item"),
    "review": ("review",),
}
STEP_OF_PAGE = {page: step for step, pages in PAGES.items() for page in pages}


def setup_on_page(project: Project, page: str) -> Setup | None:
    """Return the progress of the set-up if the page belongs to it, else None."""
    return setup_of(project, page) if page in STEP_OF_PAGE else None


def setup_of(project: Project, page: str = "") -> Setup | None:
    """Return the progress of the set-up, on a page (its route); None once a round opened. One query."""
    found = _FOUND.first(project.pk, timezone.now())
    return None if found is None or found["frozen"] else _setup(project, page, found)


def _find(project: int, now: datetime) -> QuerySet[Any, Any]:
    members = Membership.objects.filter(role=Role.ANNOTATOR, active=True)
    pending = Invitation.objects.filter(accepted_at__isnull=True, withdrawn_at__isnull=True)
    pending_invitations = pending.filter(role=Role.ANNOTATOR, membership__isnull=True, expires_at__gt=now)
    return Project.objects.filter(pk=project).values(
        frozen=Exists(Round.objects.filter(project=OuterRef("pk"))),
        item_count=_count(Item.objects.filter(kind=Item.Kind.OUTPUT), "document__project"),
        compares=Exists(Dimension.objects.filter(project=OuterRef("pk"), kind__in=COMPARING)),
        compared=Exists(Item.objects.filter(document__project=OuterRef("pk")).exclude(kind=Item.Kind.OUTPUT)),
        dimension_count=_count(Dimension.objects.all(), "project"),
        annotator_count=_count(members, "project"),
        empty_count=_count(members.filter(user__isnull=True), "project"),
        invited_count=_count(pending_invitations, "project"),
    )


def _count(rows: "QuerySet[Any]", path: str) -> Coalesce:
    counted = rows.filter(**{path: OuterRef("pk")}).order_by().values(path).annotate(count=Count("pk"))
    # Without rows there is no group, and so no number.
    return Coalesce(Subquery(counted.values("count")), 0)


_FOUND = compile_once(_find, NUMBERS[0], MOMENT)


def _setup(project: Project, page: str, found: Mapping[str, Any]) -> Setup:
    items, dimensions = found["item_count"], found["dimension_count"]
    annotators, invited = found["annotator_count"], found["invited_count"]
    raters = project.raters_per_item
    enough = annotators + invited >= raters
    needed = [gettext("Import items.")] if not items else []
    needed += [gettext("Add at least one dimension.")] if not dimensions else []
    # What Round I cannot be opened without.
    lacks_comparisons = found["compares"] and not found["compared"]
    needed += [gettext("Draw comparisons.")] if lacks_comparisons else []
    # The five steps, each with its progress.
    people = _count_annotators(annotators, invited)
    if not enough:
        people = gettext("{count} of {raters} annotators").format(count=annotators + invited, raters=raters)
    steps = [
        SetupStep("data", "imports", items > 0, _count_items(items)),
        SetupStep(
            "dimensions",
            "dimensions",
            dimensions > 0 and not lacks_comparisons,
            gettext("no comparisons yet") if lacks_comparisons else _count_dimensions(dimensions),
        ),
        SetupStep("people", "people", enough, people),
        SetupStep(
            "rounds",
            "settings",
            True,
            ngettext("{count:,} rater per item", "{count:,} raters per item", raters).format(count=raters),
        ),
        SetupStep("review", "review", not needed and enough, gettext("everything at a glance")),
    ]
    # The step of the present page, and the one after it.
    here = next((at for at, each in enumerate(steps) if each.name == STEP_OF_PAGE.get(page)), None)
    following = None if here is None or here + 1 == len(steps) else steps[here + 1]
    # Advice about people, which does not block opening.
    waiting = found["empty_count"] + invited
    advised = []
    if annotators < raters:
        message = gettext(
            "Raters per item: {raters}. Annotators in the project: {annotators}. "
            "No item can be complete until more join."
        )
        advised.append(message.format(raters=raters, annotators=annotators))
    if waiting:
        message = ngettext(
            "{count} invitation is not accepted yet.", "{count} invitations are not accepted yet.", waiting
        )
        advised.append(message.format(count=waiting))
    return Setup(
        steps=steps,
        needed=needed,
        advised=advised,
        current=None if here is None else steps[here],
        next=following,
    )


def _count_items(count: int) -> str:
    if not count:
        return gettext("no items yet")
    return ngettext("{count:,} item", "{count:,} items", count).format(count=count)


def _count_dimensions(count: int) -> str:
    if not count:
        return gettext("no dimensions yet")
    return ngettext("{count:,} dimension", "{count:,} dimensions", count).format(count=count)


def _count_annotators(count: int, invited: int) -> str:
    if not count:
        text = gettext("no annotators yet")
    else:
        text = ngettext("{count:,} annotator", "{count:,} annotators", count).format(count=count)
    if not invited:
        return text
    return gettext("{annotators}, {invited} invited").format(annotators=text, invited=invited)


# Templates: Concord's, a person's own, and a project as one.

OWN = "own-"


def own_templates(user: User) -> list[SavedTemplate]:
    """Return the templates that a person saved or imported, the newest first, without their content."""
    return list(SavedTemplate.objects.filter(owner=user).defer("content"))


def template_for(user: User, key: str) -> ProjectTemplate | None:
    """Return the template that Concord or this person has under a key, None for another. One query."""
    number = read_number(key.removeprefix(OWN)) if key.startswith(OWN) else None
    if number is None:
        return TEMPLATES.get(key)
    saved = SavedTemplate.objects.filter(owner=user, pk=number).first()
    return read_template(saved.content, key=key) if saved else None


def template_of(project: Project) -> ProjectTemplate:
    """Return a project as a template: its questions and guidelines, without its data. Three queries."""
    dimensions = tuple(map(spec_of, project.dimensions.prefetch_related("points")))
    texts = (project.guidelines, *(dimension.guidelines for dimension in dimensions))
    kept = {image.key: image for image in project.images.all()}
    # Only the images that a guideline shows.
    shown = [kept[key] for key in image_keys_in(*texts) if key in kept]
    return ProjectTemplate(
        key="",
        name=project.name,
        summary=project.description,
        guidelines=project.guidelines,
        dimensions=dimensions,
        settings=TemplateSettings(**{name: getattr(project, name) for name in vars(TemplateSettings())}),
        pictures=tuple(Picture(image.name, _content(image)) for image in shown),
    )


def spec_of(dimension: Dimension) -> DimensionSpec:
    """Return the specification of an existing dimension. One query unless its points were prefetched."""
    points = tuple(PointSpec(each.value, each.label, each.description) for each in dimension.points.all())
    fields = [name for name in DimensionSpec.__dataclass_fields__ if name != "points"]
    return DimensionSpec(**{name: getattr(dimension, name) for name in fields}, points=points)


def _content(image: GuidelineImage) -> bytes:
    with image.file.open("rb") as file:
        return bytes(file.read())


# Versions of a project's guideline: what changed between them, and the ratings given under each.


@dataclass(frozen=True)
class GuidelineVersion:
    guideline: Guideline
    content: FrozenGuideline
    in_force: list[Round]
    changes: list[Change]
    ratings: Mapping[str, int]


@dataclass(frozen=True)
class AskAgain:
    """A dimension with Round I ratings under other wording than the wording in force."""

    dimension: FrozenDimension
    ratings: int
    asked: int


def wording(project: Project) -> tuple[list[GuidelineVersion], list[AskAgain]]:
    """Return all versions that a round had or has, the newest first, and who can be asked again.

    Five queries.
    """
    rounds = rounds_of(project)
    counts = (
        Rating.objects.filter(
            has_answer(),
            rounds_of_study("assignment__round__"),
            assignment__round__project=project,
            guideline__isnull=False,
        )
        .values_list("guideline", "dimension__key")
        .annotate(count=Count("pk"))
        .order_by()
    )
    given = {(guideline, key): count for guideline, key, count in counts}
    found = project.guideline_versions.select_related("made_by").order_by("version")
    used = {version for version, _ in given} | {round.guideline_id for round in rounds.values()}
    versions: list[GuidelineVersion] = []
    for guideline in found:
        # A version without ratings, a round or a note is used by judges only.
        if guideline.pk not in used and not guideline.note:
            continue
        content = FrozenGuideline.from_json(guideline.content)
        before = versions[-1].content if versions else None
        versions.append(
            GuidelineVersion(
                guideline=guideline,
                content=content,
                in_force=[each for each in rounds.values() if each.guideline_id == guideline.pk],
                changes=list(changes_of_wording(before, content)) if before else [],
                ratings={each.key: given.get((guideline.pk, each.key), 0) for each in content.dimensions},
            )
        )
    return versions[::-1], _to_ask(rounds.get(1))


def versions_of(round: Round) -> QuerySet[Guideline]:
    """Return the versions with ratings of a round, and the one in force, in version order."""
    seen = Rating.objects.filter(assignment__round=round).order_by().values("guideline").distinct()
    versions = Guideline.objects.filter(Q(pk__in=seen) | Q(pk=round.guideline_id), project=round.project_id)
    return versions.order_by("version")


def ratings_to_ask_again(round: Round, dimension: int | None = None) -> QuerySet[Rating]:
    """Return the answers given under other wording of their dimension than the wording in force.

    Guidelines for all dimensions are wording of each. Only of people who can still answer. Two queries.
    """
    people = Q(assignment__annotator__active=True, assignment__annotator__user__isnull=False)
    ratings = Rating.objects.filter(
        people, has_answer(), assignment__round=round, asked_again_at__isnull=True
    )
    if dimension is not None:
        ratings = ratings.filter(dimension=dimension)
    in_force = frozen_guideline(round.guideline_id, round.guideline.digest)
    # The empty start of a disjunction: it matches no rating.
    reworded = Q(pk__in=[])
    versions = Guideline.objects.filter(project=round.project_id)
    # For each dimension, the versions in which its wording is the one in force.
    found: dict[int, list[int]] = {one.id: [] for one in in_force.dimensions}
    for version in versions:
        content = FrozenGuideline.from_json(version.content)
        if content.guidelines == in_force.guidelines:
            then = {one.id: one for one in content.dimensions}
            for one in in_force.dimensions:
                if then.get(one.id) == one:
                    found[one.id].append(version.pk)
    for each, same in found.items():
        reworded |= Q(dimension=each) & ~Q(guideline__in=same)
    return ratings.filter(reworded)


def _to_ask(round: Round | None) -> list[AskAgain]:
    if round is None or not round.is_open:
        return []
    left = dict(ratings_to_ask_again(round).values_list("dimension").annotate(count=Count("pk")).order_by())
    waiting = Rating.objects.filter(assignment__round=round, asked_again_at__isnull=False)
    asked = dict(waiting.values_list("dimension").annotate(count=Count("pk")).order_by())
    dimensions = FrozenGuideline.from_json(round.guideline.content).dimensions
    found = [AskAgain(each, left.get(each.id, 0), asked.get(each.id, 0)) for each in dimensions]
    return [each for each in found if each.ratings or each.asked]
