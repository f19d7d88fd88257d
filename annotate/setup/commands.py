"""Write operations on projects, dimensions, templates and guidelines."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count
from typing import Any

from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import FileField, Max, ProtectedError, Q, QuerySet
from django.db.models.fields.files import FieldFile
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext, gettext_lazy

from annotate.core.audit import actor_columns, record
from annotate.core.configuration import lock_configurable, lock_project, refuse_frozen
from annotate.core.errors import FrozenError, ImportRefusedError, InvalidValueError, NotReadyError
from annotate.core.files import LARGEST_IMAGE, image_key
from annotate.core.guideline import DIMENSION_FIELDS, DimensionSpec, ProjectTemplate
from annotate.core.models import (
    Addition,
    Assignment,
    AuditEntry,
    DataImport,
    Dimension,
    Guideline,
    GuidelineImage,
    Project,
    ProjectDeletion,
    Rating,
    Role,
    Round,
    SavedTemplate,
    ScalePoint,
    Submission,
    User,
)
from annotate.core.models.records import DELETED
from annotate.core.rounds import rounds_of
from annotate.core.scale import int_if_whole, is_on_scale
from annotate.material.commands.uploads import forget_files
from annotate.people.commands import add_member
from annotate.questions import KINDS, kind_of
from annotate.rating.commands.rounds import freeze_guideline
from annotate.setup.queries import ratings_to_ask_again, rows_of_project, spec_of, uses_of_image
from annotate.setup.template_file import TemplateRefusedError, free_key, read_template, to_json

# A project's dimensions, until Round I freezes them. Every command locks the project's row.

VALUE_TYPES = (int, float, str)


@transaction.atomic
def add_dimension(*, project: Project, dimension: DimensionSpec) -> Dimension:
    """Add a dimension after the others. Locks the project. Raises FrozenError."""
    lock_configurable(project)
    _refuse_addition(project)
    dimension = checked_question(project, dimension)
    last = project.dimensions.aggregate(last=Max("position"))["last"] or 0
    made = Dimension.objects.create(
        project=project,
        key=_free_key(project, dimension.name),
        position=last + 1,
        dispute_threshold=dimension.dispute_threshold,
        tolerance=dimension.tolerance,
        **{field: getattr(dimension, field) for field in DIMENSION_FIELDS},
    )
    write_points(made, dimension)
    record(project, "dimension.added", made, after=asdict(dimension))
    return made


@transaction.atomic
def update_dimension(*, dimension: Dimension, to: DimensionSpec) -> Dimension:
    """Replace a dimension; its key follows its name. Locks the project. Raises FrozenError."""
    dimension = _lock_dimension(dimension)
    before = spec_of(dimension)
    # Dispute rules are set elsewhere and stay.
    to = replace(to, dispute_threshold=before.dispute_threshold, tolerance=before.tolerance)
    to = checked_question(dimension.project, to, besides=dimension)
    for field in DIMENSION_FIELDS:
        setattr(dimension, field, getattr(to, field))
    key = dimension.key
    dimension.key = _free_key(dimension.project, to.name, besides=dimension)
    if dimension.key != key:
        # Conditions name a question by its key.
        for each in _dependent_on(dimension.project, key):
            each.shown_if = {**(each.shown_if or {}), "dimension": dimension.key}
            each.save(update_fields=["shown_if"])
    dimension.save(update_fields=[*DIMENSION_FIELDS, "key"])
    dimension.points.all().delete()
    write_points(dimension, to)
    record(dimension.project, "dimension.changed", dimension, before=asdict(before), after=asdict(to))
    return dimension


@transaction.atomic
def move_dimension(*, dimension: Dimension, up: bool) -> None:
    """Exchange a dimension with its neighbour; no change at the end of the list. Locks the project.

    Raises NotReadyError if one of the two depends on the other.
    """
    dimension = _lock_dimension(dimension)
    order = list(dimension.project.dimensions.all())
    here = order.index(dimension)
    there = here - 1 if up else here + 1
    if not 0 <= there < len(order):
        return
    first, second = order[min(here, there)], order[max(here, there)]
    if second.shown_if and second.shown_if["dimension"] == first.key:
        raise NotReadyError(
            gettext("{name} depends on {other}, so it has to come after it.").format(
                name=second.name, other=first.name
            )
        )
    # Neighbours change order, so only a condition between these two could break.
    order[here], order[there] = order[there], order[here]
    _put_in_order(order)
    before, after = {"place": here + 1}, {"place": there + 1}
    record(dimension.project, "dimension.moved", dimension, before=before, after=after)


@transaction.atomic
def duplicate_dimension(*, dimension: Dimension) -> Dimension:
    dimension = _lock_dimension(dimension)
    # A name has up to 80 characters, and the addition needs seven of them.
    name = f"{dimension.name[:70]} (copy)"
    copy = add_dimension(project=dimension.project, dimension=replace(spec_of(dimension), name=name))
    order = [other for other in dimension.project.dimensions.all() if other != copy]
    order.insert(order.index(dimension) + 1, copy)
    _put_in_order(order)
    return copy


@transaction.atomic
def remove_dimension(*, dimension: Dimension) -> None:
    """Remove a dimension with its scale. Locks the project.

    Raises FrozenError, and NotReadyError if something else was built on it.
    """
    lock_project(dimension.project)
    # Before the general check, because this message also says how to continue without the dimension.
    if ratings := Rating.objects.filter(dimension=dimension.pk).count():
        raise FrozenError(
            gettext(
                "{name} has ratings ({ratings:,}), so it cannot be removed. To continue without "
                "it, save the project as a template, start a new project from it, and remove the "
                "dimension there."
            ).format(name=dimension.name, ratings=ratings)
        )
    refuse_frozen(dimension.project)
    _refuse_addition(dimension.project)
    if dependent := _dependent_on(dimension.project, dimension.key).first():
        raise NotReadyError(
            gettext("{other} depends on {name}. Ask it always, or remove it first.").format(
                other=dependent.name, name=dimension.name
            )
        )
    before = asdict(spec_of(dimension))
    try:
        Dimension.objects.filter(pk=dimension.pk).delete()
    # Rows of other apps may refer to it, such as judgments.
    except ProtectedError:
        raise NotReadyError(
            gettext("Judgments or ratings of this dimension exist, so it has to stay.")
        ) from None
    record(dimension.project, "dimension.removed", dimension, before=before)


def _refuse_addition(project: Project) -> None:
    """Raise FrozenError for an addition, which has the questions of its benchmark. One query."""
    if Addition.objects.filter(project=project).exists():
        raise FrozenError(
            gettext("This is an addition, so its dimensions and guidelines are those of its benchmark.")
        )


def _lock_dimension(dimension: Dimension) -> Dimension:
    project = lock_configurable(dimension.project)
    _refuse_addition(project)
    found = project.dimensions.filter(pk=dimension.pk).first()
    if found is None:
        raise NotReadyError(gettext("This dimension has been removed."))
    return found


def _dependent_on(project: Project, key: str) -> QuerySet[Dimension]:
    return project.dimensions.filter(shown_if__dimension=key)


def _put_in_order(order: Sequence[Dimension]) -> None:
    for position, dimension in enumerate(order, start=1):
        dimension.position = position
    Dimension.objects.bulk_update(order, ["position"])


def checked_question(
    project: Project, dimension: DimensionSpec, *, besides: Dimension | None = None
) -> DimensionSpec:
    """Return the checked question with complete options. Raises InvalidValueError.

    `besides`: the dimension that it replaces. One query if the question has a condition.
    """
    if dimension.kind not in KINDS:
        raise InvalidValueError(
            gettext("The kind of question is one of {names}.").format(names=", ".join(KINDS))
        )
    dimension = _resolve_condition(project, dimension, besides)
    # A category is stored as a nominal scale.
    if dimension.kind in ("scale", "category"):
        level = "nominal" if dimension.kind == "category" else dimension.measurement_level
        return replace(dimension, kind="scale", measurement_level=level, options=None)
    # Other kinds have no scale of their own, so its columns hold the bounds of their numbers.
    kind = KINDS[dimension.kind]
    options = kind.read_options(dimension.options or {}) or {}
    lowest, highest = kind.bounds(options)
    scale: dict[str, Any] = {"scale_minimum": lowest, "scale_maximum": highest, "scale_step": 1, "points": ()}
    return replace(dimension, options=options, measurement_level="interval", **scale)


def _resolve_condition(
    project: Project, dimension: DimensionSpec, besides: Dimension | None
) -> DimensionSpec:
    if not dimension.shown_if:
        return replace(dimension, shown_if=None)
    key, values = dimension.shown_if.get("dimension"), dimension.shown_if.get("values")
    earlier = project.dimensions.filter(key=key)
    if besides:
        earlier = earlier.filter(position__lt=besides.position)
    asked = earlier.first()
    if asked is None:
        raise InvalidValueError(
            gettext("A question can depend on one that comes before it; {key} does not.").format(key=key)
        )
    if kind_of(asked).item_kind != KINDS[dimension.kind].item_kind:
        raise InvalidValueError(
            gettext(
                "A question about comparisons can depend on another one about comparisons only, "
                "and one about outputs on one about outputs."
            )
        )
    # By exact type: True is an int, too.
    if not isinstance(values, list) or not values or not all(type(each) in VALUE_TYPES for each in values):
        raise InvalidValueError(gettext("List the answers after which the question is asked."))
    whole = [each if isinstance(each, str) else int_if_whole(float(each)) for each in values]
    if not all(_can_be_said(asked, each) for each in whole):
        raise InvalidValueError(
            gettext("{name} does not have each of these answers: {values}.").format(
                name=asked.name, values=", ".join(map(str, whole))
            )
        )
    return replace(dimension, shown_if={"dimension": key, "values": whole})


def _can_be_said(asked: Dimension, value: float | str) -> bool:
    """Return True if a value or a label can be an answer; only scales and labels have such answers."""
    if asked.kind == "scale":
        scale = asked.scale_minimum, asked.scale_maximum, asked.scale_step
        return not isinstance(value, str) and is_on_scale(value, *scale)
    return asked.kind == "labels" and value in [each["key"] for each in (asked.options or {})["labels"]]


def write_points(dimension: Dimension, spec: DimensionSpec) -> None:
    """Write the points of a dimension that have a label or description, inside the caller's transaction."""
    scale = range(spec.scale_minimum, spec.scale_maximum + 1)
    ScalePoint.objects.bulk_create(
        ScalePoint(dimension=dimension, value=point.value, label=point.label, description=point.description)
        for point in spec.points
        if point.value in scale and (point.label or point.description)
    )


def _free_key(project: Project, name: str, *, besides: Dimension | None = None) -> str:
    others = project.dimensions.exclude(pk=besides.pk) if besides else project.dimensions.all()
    return free_key(name, set(others.values_list("key", flat=True)))


# Images of guidelines: added and removed.


@transaction.atomic
def add_image(*, project: Project, by: User | None, name: str, content: bytes) -> GuidelineImage:
    """Store an image; returns the stored one if the project has the same image. Locks the project.

    Raises InvalidValueError for a file that is too large or no image.
    """
    if len(content) > LARGEST_IMAGE:
        raise InvalidValueError(
            gettext(
                "“{name}” has {value:.1f} MB; the limit for an image is {value_2}. Make it smaller."
            ).format(name=name, value=len(content) / 2**20, value_2=LARGEST_IMAGE // 2**20)
        )
    key = image_key(content)
    if key is None:
        raise InvalidValueError(
            gettext("“{name}” is not a PNG, JPEG, GIF or WebP image; save it as one of these.").format(
                name=name
            )
        )
    lock_project(project)
    if there := project.images.filter(key=key).first():
        return there
    image = GuidelineImage(project=project, key=key, name=name[-150:], added_by=by)
    image.file.save(key, ContentFile(content), save=False)
    image.save()
    record(project, "picture.added", image.name, by=by)
    return image


@transaction.atomic
def remove_image(*, image: GuidelineImage) -> None:
    """Remove an image. Locks the project. Raises NotReadyError for an image used in a guideline."""
    project = lock_project(image.project)
    if uses := uses_of_image(project, image.key):
        raise NotReadyError(
            gettext("This image appears in {listed}. Remove it there first.").format(listed=", ".join(uses))
        )
    storage, stored = image.file.storage, str(image.file.name)
    if GuidelineImage.objects.filter(pk=image.pk).delete()[0]:
        record(project, "picture.removed", image.name)
    # A rollback brings back the row, but no file.
    transaction.on_commit(lambda: storage.delete(stored))


# Deleting a project with everything in it, histories included: the only way to delete from those.


@transaction.atomic
def delete_project(*, project: Project, name: str, by: User) -> None:
    """Delete a project; `name` must be its exact name. Locks the project.

    One audit entry with the project, person and time remains. Raises InvalidValueError, and NotReadyError for
    a project with a later edition.
    """
    project = lock_project(project)
    if name.strip() != project.name:
        sentence = gettext(
            "Type “{project}”, exactly as it is, to delete this project; nothing was deleted."
        ).format(project=project.name)
        raise InvalidValueError(sentence, fields={"name": sentence})
    if edition := project.next_editions.order_by("-number").first():
        raise NotReadyError(gettext("Delete edition {number} first.").format(number=edition.number))
    for session in project.calibration_sessions.all():
        delete_project(project=session, name=session.name, by=by)
    for addition in project.additions.select_related("project"):
        delete_project(project=addition.project, name=addition.project.name, by=by)
    Submission.objects.filter(addition__project=project).update(addition=None)
    imports = list(DataImport.objects.filter(project=project))
    files: list[FieldFile] = []
    # The triggers that protect histories let this transaction delete them.
    permission = ProjectDeletion.objects.create(project=project)
    counts = {}
    # Directly in the tables: protected references, which block deletion, are deleted with their rows.
    for rows in rows_of_project(project):
        names = [each.name for each in rows.model._meta.concrete_fields if isinstance(each, FileField)]
        files += [getattr(row, name) for name in names for row in rows.only(name)]
        if deleted := rows._raw_delete(rows.db):
            counts[str(rows.model._meta.verbose_name_plural)] = deleted
    permission.delete()
    Project.objects.filter(pk=project.pk)._raw_delete(rows.db)
    # This entry belongs to no project, or it would be deleted with the others.
    AuditEntry.objects.create(
        at=timezone.now(),
        **actor_columns(by),
        act=DELETED,
        subject=project.name,
        before={"slug": project.slug, **counts},
    )

    def delete_files() -> None:
        for file in files:
            if file.name:
                file.storage.delete(file.name)
        for each in imports:
            forget_files(each)

    transaction.on_commit(delete_files)


# Creating and configuring projects.

# A round freezes the first; the others can be changed at any time.
FROZEN_FIELDS = ("guidelines", "raters_per_item", "dispute_threshold", "tolerance")
FREE_FIELDS = ("name", "description", "reservation_minutes")
# Words in URLs in the position of a project's slug.
RESERVED_SLUGS = frozenset({"new"})


@transaction.atomic
def create_project(*, user: User | None, name: str, template: ProjectTemplate | None = None) -> Project:
    """Create a project, with a template's dimensions or none; the user, if any, becomes its admin."""
    # The first of name, name-2, name-3, ... that no other project has.
    base = slugify(name)[:50].strip("-") or "project"
    candidates = (base if n == 1 else f"{base}-{n}" for n in count(1))
    project = Project(
        slug=next(
            slug
            for slug in candidates
            if slug not in RESERVED_SLUGS and not Project.objects.filter(slug=slug).exists()
        ),
        name=name,
        created_by=user,
    )
    if template:
        project.description, project.guidelines = template.summary, template.guidelines
        for field, value in vars(template.settings).items():
            setattr(project, field, value)
    project.save(force_insert=True)
    record(project, "project.begun", project, by=user)
    if user:
        add_member(project=project, role=Role.ADMIN, user=user)
    # One by one, because the condition of a question names an earlier one.
    for dimension in template.dimensions if template else ():
        add_dimension(project=project, dimension=dimension)
    for picture in template.pictures if template else ():
        add_image(project=project, by=user, name=picture.name, content=picture.content)
    return project


@transaction.atomic
def update_project(*, project: Project, **values: str | int) -> Project:
    """Change settings (FREE_FIELDS and FROZEN_FIELDS) and return the project. Locks the project.

    Raises FrozenError if one that a round froze would become different.
    """
    locked = lock_project(project)
    changed = {field: value for field, value in values.items() if getattr(locked, field) != value}
    if unknown := changed.keys() - {*FREE_FIELDS, *FROZEN_FIELDS}:
        raise TypeError(f"Not settings of a project: {', '.join(sorted(unknown))}.")
    # These need more than the lock: no round may have opened.
    if changed.keys() & set(FROZEN_FIELDS):
        lock_configurable(project)
    if "guidelines" in changed:
        _refuse_addition(locked)
    before = {field: getattr(locked, field) for field in changed}
    for field, value in changed.items():
        setattr(locked, field, value)
    locked.save(update_fields=list(changed))
    record(locked, "project.changed", locked, before=before, after=changed)
    return locked


# Templates saved from projects, imported and removed.


@transaction.atomic
def save_template(*, owner: User, template: ProjectTemplate) -> SavedTemplate:
    """Save a template; an identical one is returned instead."""
    content = to_json(template)
    there = SavedTemplate.objects.filter(owner=owner, content=content).first()
    return there or SavedTemplate.objects.create(owner=owner, name=template.name, content=content)


def import_template(*, owner: User, text: bytes) -> SavedTemplate:
    try:
        return save_template(owner=owner, template=read_template(text))
    except TemplateRefusedError as error:
        shown = error.problems[:20]
        more = [f"… and {len(error.problems) - 20} more."] if len(error.problems) > 20 else []
        raise ImportRefusedError("\n".join([*shown, *more])) from error


def remove_template(*, template: SavedTemplate) -> None:
    """Remove a saved template; projects created from it stay unchanged."""
    SavedTemplate.objects.filter(pk=template.pk).delete()


# Changes of wording in an open round: a new version of the guideline, and a second look by raters. Questions
# and possible answers stay as frozen by Round I; only their explanation can change.

WORDING = ("definition", "guidelines", "options")
WORDS_OF_ROWS = ("name", "description")


@transaction.atomic
def reword_dimension(
    *, dimension: Dimension, to: DimensionSpec, note: str, by: User | None
) -> Guideline | None:
    """Change a dimension's definition, labels, descriptions and guidelines; return the version in force.

    Locks the project. Raises FrozenError for any other change, InvalidValueError without a note,
    NotReadyError once both rounds are closed.
    """
    project = lock_project(dimension.project)
    _refuse_addition(project)
    _refuse_closed(project)
    dimension = project.dimensions.get(pk=dimension.pk)
    before = spec_of(dimension)
    to = replace(to, dispute_threshold=before.dispute_threshold, tolerance=before.tolerance)
    to = checked_question(dimension.project, to, besides=dimension)
    # Compared after `checked_question`, which completes the options to their stored form.
    _refuse_more_than_wording(dimension, to)
    for field in WORDING:
        setattr(dimension, field, getattr(to, field))
    dimension.save(update_fields=WORDING)
    dimension.points.all().delete()
    write_points(dimension, to)
    changed = {"before": asdict(before), "after": asdict(to)}
    record(project, "dimension.reworded", dimension, note=note, by=by, **changed)
    return _put_in_force(project, note, by)


@transaction.atomic
def reword_guidelines(*, project: Project, guidelines: str, note: str, by: User | None) -> Guideline:
    """Change the guidelines for all dimensions; otherwise as `reword_dimension`."""
    project = lock_project(project)
    _refuse_addition(project)
    _refuse_closed(project)
    before, after = {"guidelines": project.guidelines}, {"guidelines": guidelines}
    record(project, "project.reworded", project, note=note, by=by, before=before, after=after)
    project.guidelines = guidelines
    project.save(update_fields=["guidelines"])
    return _put_in_force(project, note, by)


@transaction.atomic
def ask_again(*, round: Round, dimension: Dimension) -> int:
    """Request a second look at ratings given under another version than the one in force; return their
    number.

    The answers stay valid, and in the history, until raters confirm or change them. Locks the project, then
    the assignments in order, as closing does. Raises NotReadyError if there are no such ratings, or if Round
    I is not open.
    """
    lock_project(round.project)
    round = Round.objects.get(pk=round.pk)
    if round.number != 1 or not round.is_open:
        raise NotReadyError(
            gettext("Raters can rate again while Round I is open; Round II is about disputes.")
        )
    ratings = ratings_to_ask_again(round, dimension.pk)
    assignments = Assignment.objects.filter(pk__in=ratings.values("assignment"))
    # Read before the update of the ratings, after which their filter matches none of them.
    held = list(assignments.select_for_update().order_by("pk").values_list("pk", flat=True))
    asked = Rating.objects.filter(pk__in=ratings.values("pk")).update(asked_again_at=timezone.now())
    if not asked:
        raise NotReadyError(gettext("All ratings open for review already follow the version in force."))
    # An item with a question to answer again is not complete.
    Assignment.objects.filter(pk__in=held).update(completed_at=None)
    record(round.project, "dimension.asked_again", dimension, after={"ratings": asked})
    return asked


def _put_in_force(project: Project, note: str, by: User | None) -> Guideline:
    """Freeze the current wording and hand it to the open round; without one, Round II will open with it."""
    if not note.strip():
        raise InvalidValueError(
            gettext("Describe the change and its reason. Readers see it with the version."),
            fields={"note": gettext("Give a reason.")},
        )
    version = freeze_guideline(project, note=note.strip(), by=by)
    # Also of the hidden round of checks, which must look like Round I.
    Round.all_rounds.filter(project=project, status=Round.Status.OPEN).update(guideline=version)
    return version


def _refuse_closed(project: Project) -> None:
    round_two = rounds_of(project).get(2)
    if round_two and not round_two.is_open:
        raise NotReadyError(gettext("Both rounds are closed, so you can no longer change the guideline."))


def _refuse_more_than_wording(dimension: Dimension, to: DimensionSpec) -> None:
    changed = [
        field
        for field in DIMENSION_FIELDS
        if field not in WORDING and getattr(dimension, field) != getattr(to, field)
    ]
    # Names and descriptions of options are wording; their keys and settings are not.
    if not changed and _drop_option_words(dimension.options) == _drop_option_words(to.options):
        return
    off = Rating.objects.filter(dimension=dimension).filter(
        Q(value__lt=to.scale_minimum) | Q(value__gt=to.scale_maximum)
    )
    if count := off.count():
        low, high = to.scale_minimum, to.scale_maximum
        raise FrozenError(
            gettext(
                "{count:,} ratings of {name} are outside {low} to {high}, so its scale cannot "
                "become narrower. {way_out}"
            ).format(name=dimension.name, low=low, high=high, count=count, way_out=str(WAY_OUT))
        )
    raise FrozenError(
        gettext("Round I was opened, and froze this. {only_wording} {way_out}").format(
            only_wording=str(ONLY_WORDING), way_out=str(WAY_OUT)
        )
    )


def _drop_option_words(options: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        name: [{key: each[key] for key in each if key not in WORDS_OF_ROWS} for each in value]
        if isinstance(value, list)
        else value
        for name, value in (options or {}).items()
    }


ONLY_WORDING = gettext_lazy(
    "Of a dimension, definition, labels, descriptions and guidelines can still be changed."
)
WAY_OUT = gettext_lazy("For anything else, save the project as a template and begin a new one from it.")
