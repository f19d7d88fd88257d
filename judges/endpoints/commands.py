"""Commands of endpoints: one function for each action of a person or a worker."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

from annotate.core.audit import facts, record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError
from annotate.core.models import Dimension, Project, User
from annotate.core.outbound import VariableRefusedError, origin_of, refuse_variable
from judges.core.errors import InUseError, KeyMissingError, invalid_field
from judges.core.judge_settings import names_of_settings
from judges.core.models import (
    CallOrder,
    Endpoint,
    EndpointKey,
    Judge,
    Judgment,
    ModelPrice,
    PromptTemplate,
    Run,
    ScoreFrom,
)
from judges.core.specification import EndpointSpec, JudgeSpec, ModelPriceSpec
from judges.endpoints.client import Client, ask_once, use_client
from judges.endpoints.connections import refuse_address
from judges.endpoints.dialects import DIALECTS
from judges.endpoints.failures import RequestFailed
from judges.endpoints.keys import UnreadableKeyError, encrypt, encrypt_again, server_of
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import shipped_prompt, was_asked
from judges.endpoints.questions import Question
from judges.methods import METHODS, Method
from judges.methods.base import Message
from judges.methods.reading.reader import problem_of_pattern
from judges.methods.scales import OwnScale
from judges.methods.template import placeholders

# Keys of endpoints entered, removed, and encrypted again.

LONGEST_KEY = 2000  # characters
SHOWN = 4  # characters at the end of a key
SHOWN_FROM = 16  # a shorter key would lose too much
MOST_MODELS = 500  # that a page suggests
PRINTABLE = re.compile(r"[!-~]+")


@sensitive_variables("key")
def refuse_key(key: str) -> None:
    """Raise InvalidValueError for a key that no header can carry; the message does not repeat it."""
    if not PRINTABLE.fullmatch(key) or len(key) > LONGEST_KEY:
        message = gettext("A key has no spaces and only ASCII characters. Paste it as the provider gave it.")
        raise invalid_field("key", message)


@sensitive_variables("key")
@transaction.atomic
def enter_key(*, endpoint: Endpoint, key: str, by: User | None) -> EndpointKey:
    """Store a key for an endpoint's server, replacing the previous one.

    Locks the project. Raises InvalidValueError, also if the endpoint names a variable. The audit log records
    the server, and never the key or any part of it.
    """
    refuse_key(key)
    if endpoint.key_variable:
        message = gettext("Enter a key or name a variable, not both. Empty the variable first.")
        raise invalid_field("key", message)
    lock_project(endpoint.project)
    origin = origin_of(endpoint.base_url)
    values = {
        "origin": origin,
        "encrypted": encrypt(key, endpoint=endpoint.pk, origin=origin),
        # Admins recognize a key by its end, without a way to read it.
        "ends_with": key[-SHOWN:] if len(key) >= SHOWN_FROM else "",
        "entered_at": timezone.now(),
        "entered_by": by,
    }
    entered, _ = EndpointKey.objects.update_or_create(endpoint=endpoint, defaults=values)
    record(endpoint.project, "endpoint.key_entered", endpoint, after={"server": origin}, by=by)
    return entered


@transaction.atomic
def remove_key(*, endpoint: Endpoint, by: User | None) -> None:
    """Delete the key of an endpoint, if there is one. Locks the project."""
    lock_project(endpoint.project)
    entered = EndpointKey.objects.filter(endpoint=endpoint).first()
    if entered is not None:
        entered.delete()
        record(endpoint.project, "endpoint.key_removed", endpoint, before={"server": entered.origin}, by=by)


def encrypt_all_again() -> tuple[int, list[Endpoint]]:
    """Encrypt every key with the first secret; locks each key for a moment. Safe to run twice.

    Return the number of keys with the first secret, and the endpoints with a key that no secret can read.
    """
    count, unreadable = 0, []
    for pk in EndpointKey.objects.order_by("pk").values_list("pk", flat=True):
        # One transaction for each key holds its lock for a moment only.
        with transaction.atomic():
            entered = EndpointKey.objects.select_for_update().filter(pk=pk).first()
            if entered is None:  # removed in the meantime
                continue
            try:
                entered.encrypted = encrypt_again(entered.encrypted)
            except UnreadableKeyError:
                unreadable.append(entered.endpoint)
                continue
            entered.save(update_fields=["encrypted"])
            count += 1
    return count, unreadable


# Endpoints added, changed, and tried with one call.

KEY_SUFFIX = "_API_KEY"
TRIAL_TOKENS = 200


@dataclass(frozen=True)
class Trial:
    """The result of one call: a reply, or a message why there is none. Unknown costs are None."""

    text: str = ""
    problem: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None


def refuse_other_variables(name: str) -> None:
    """Raise InvalidValueError unless a variable may hold a key of an endpoint.

    This is the second guard behind the operator's list. Variables with other content, such as the database
    password, stay out of reach even if they were listed by mistake.
    """
    if name and not (name.endswith(KEY_SUFFIX) and name.isidentifier() and name.isascii()):
        message = gettext(
            "The name must be that of a variable and end in {suffix}, such as OPENAI{suffix}."
        ).format(suffix=KEY_SUFFIX)
        raise invalid_field("key_variable", message)


@sensitive_variables("key")
@transaction.atomic
def add_endpoint(*, project: Project, spec: EndpointSpec, key: str = "", by: User | None = None) -> Endpoint:
    """Add a server to a project, with a key if one is passed. Locks the project. Raises InvalidValueError."""
    lock_project(project)
    _refuse(project, spec, has_key=bool(key))
    record(project, "endpoint.added", spec.name, after=asdict(spec))
    made = Endpoint.objects.create(project=project, **asdict(spec))
    # The encryption binds a key to the endpoint's id, which exists only now.
    if key:
        enter_key(endpoint=made, key=key, by=by)
    return made


@sensitive_variables("key")
@transaction.atomic
def update_endpoint(
    *, endpoint: Endpoint, spec: EndpointSpec, key: str = "", by: User | None = None
) -> Endpoint:
    """Replace an endpoint's settings, and its key if one is passed; calls in flight end with the old
    settings.

    Locks the project, then the endpoint. Raises InvalidValueError.
    """
    lock_project(endpoint.project)
    endpoint = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    has_key = bool(key) or EndpointKey.objects.filter(endpoint=endpoint).exists()
    _refuse(endpoint.project, spec, besides=endpoint, has_key=has_key)
    values = asdict(spec)
    before = {field: getattr(endpoint, field) for field in values}
    record(endpoint.project, "endpoint.changed", endpoint, before=before, after=values)
    # Another server may run another model: answers from before this moment are not reused.
    if spec.base_url != endpoint.base_url:
        endpoint.moved_at = timezone.now()
    for field, value in values.items():
        setattr(endpoint, field, value)
    if endpoint.next_probe_at is not None:  # the change may have removed the reason for its silence
        endpoint.next_probe_at, endpoint.failed_probes = timezone.now(), 0
    endpoint.save(update_fields=[*values, "moved_at", "next_probe_at", "failed_probes"])
    # After the save, because the key belongs to the server of the new URL.
    if key:
        enter_key(endpoint=endpoint, key=key, by=by)
    return endpoint


@transaction.atomic
def set_model_price(*, endpoint: Endpoint, spec: ModelPriceSpec) -> ModelPrice:
    """Set the token prices of a model at an endpoint; runs use them from their next slice.

    Locks the project. Stored costs do not change.
    """
    lock_project(endpoint.project)
    # A price keeps its currency: it counts as unknown once the installation uses another one.
    values = {**asdict(spec), "currency": settings.CURRENCY}
    known = ModelPrice.objects.filter(endpoint=endpoint, model=spec.model).first()
    before = {name: getattr(known, name) for name in values} if known else {}
    row, _ = ModelPrice.objects.update_or_create(
        endpoint=endpoint, model=values.pop("model"), defaults=values
    )
    record(endpoint.project, "endpoint.price_set", endpoint, before=before, after=asdict(spec))
    return row


@transaction.atomic
def remove_model_price(*, price: ModelPrice) -> None:
    """Remove a model's own prices, so that the endpoint's or listed ones apply again. Locks the project."""
    lock_project(price.endpoint.project)
    record(price.endpoint.project, "endpoint.price_removed", price.endpoint, before={"model": price.model})
    price.delete()


@sensitive_variables()
def try_endpoint(*, endpoint: Endpoint, model: str, message: str) -> Trial:
    """Make one real call, outside any transaction, and return the result; nothing is written."""
    try:
        server = server_of(endpoint, calls_in_flight=1)
        question = Question(model, (Message("user", message),), temperature=0, max_tokens=TRIAL_TOKENS)
        reply = ask_once(server, question)
    except KeyMissingError as error:
        return Trial(problem=error.message)
    except RequestFailed as error:
        return Trial(problem=error.sentence)
    return Trial(
        text=reply.text,
        seconds=reply.seconds,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost=prices_of(endpoint, model).cost(reply.input_tokens, reply.output_tokens, reply.cached_tokens),
    )


def find_models(*, endpoint: Endpoint) -> tuple[list[str], str]:
    """Fetch the server's list of models, outside any transaction; nothing is written.

    Return the models, and the reason why there are none.
    """
    try:
        names = use_client(server_of(endpoint, calls_in_flight=1), Client.list_models)
    except KeyMissingError as error:
        return [], error.message
    except RequestFailed as error:
        return [], error.sentence
    problem = "" if names else gettext("The server lists no models. Enter the name of one yourself.")
    return names[:MOST_MODELS], problem


@sensitive_variables()
def _refuse(
    project: Project, endpoint: EndpointSpec, *, has_key: bool, besides: Endpoint | None = None
) -> None:
    refuse_address(endpoint.base_url)
    dialect = DIALECTS[endpoint.dialect]
    if endpoint.samples_in_one_call and not dialect.takes_n:
        message = gettext("{dialect} gives one reply a call.").format(dialect=dialect.kind.label)
        raise invalid_field("samples_in_one_call", message)
    if endpoint.key_variable:
        refuse_other_variables(endpoint.key_variable)
        if has_key:
            message = gettext("Enter a key or name a variable, not both. Remove the entered key first.")
            raise invalid_field("key_variable", message)
        try:
            refuse_variable(endpoint.key_variable, url=endpoint.base_url, project=project.slug)
        except VariableRefusedError as error:
            raise invalid_field("key_variable", error.message) from None
    # No row has the id 0, so a new endpoint excludes none.
    others = Endpoint.objects.filter(project=project).exclude(pk=besides.pk if besides else 0)
    if others.filter(name=endpoint.name).exists():
        message = gettext("The project has an endpoint {endpoint} already; choose another name.").format(
            endpoint=endpoint.name
        )
        raise invalid_field("name", message)


# Prompt templates: writing, changing, and copying the shipped ones. A version that a judgment used never
# changes: an edit writes the next version.


def refuse_text(method: str, text: str) -> None:
    """Raise InvalidValueError for a placeholder that the method does not support, or for a missing one
    that it needs.
    """
    try:
        METHODS[method].check(text)
    except ValueError as error:
        raise invalid_field("text", str(error)) from None


@transaction.atomic
def create_template(
    *, project: Project, method: str, name: str, text: str, pattern: str = "", by: User | None
) -> PromptTemplate:
    """Write version 1 of a template. Locks the project. Raises InvalidValueError."""
    lock_project(project)
    refuse_text(method, text)
    if problem := problem_of_pattern(pattern):
        raise invalid_field("pattern", problem)
    if PromptTemplate.objects.filter(project=project, name=name).exists():
        message = gettext(
            "The project has a prompt {name} already; choose another name, or open it and change it."
        ).format(name=name)
        raise invalid_field("name", message)
    return _write(project, method, name, by, text=text, pattern=pattern)


@transaction.atomic
def edit_template(
    *, template: PromptTemplate, text: str, pattern: str = "", by: User | None
) -> PromptTemplate:
    """Change a version directly if no judgment used it, or else write the next one; return the result.

    Locks the project, so that no run is planned at the same time. Then locks the pending runs of this
    version, so that no worker starts to use it between the check and the write. Raises InvalidValueError.
    """
    refuse_text(template.method, text)
    if problem := problem_of_pattern(pattern):
        raise invalid_field("pattern", problem)
    locked = _lock_template(template)
    return _change(locked, {**_content(locked), "text": text, "pattern": pattern}, by)


@transaction.atomic
def edit_wording(
    *, template: PromptTemplate, dimension: Dimension, text: str, by: User | None
) -> PromptTemplate:
    """Give a dimension its own wording, or remove it if `text` equals the common prompt; return the result.

    Writes the next version; locks and raises like `edit_template`.
    """
    refuse_text(template.method, text)
    if METHODS[template.method].asks_several:
        message = gettext("One call asks about all dimensions, so they have one wording; change that one.")
        raise invalid_field("text", message)
    locked, key = _lock_template(template), str(dimension.pk)
    wordings = {other: wording for other, wording in locked.wordings.items() if other != key}
    if text != locked.text:
        wordings[key] = text
    return _change(locked, {**_content(locked), "wordings": wordings}, by)


@transaction.atomic
def add_version(
    *, template: PromptTemplate, dimension: Dimension, text: str, by: User | None
) -> PromptTemplate:
    """Write the next version with this wording of a dimension, even if no judgment used this one.

    Locks the project. Raises InvalidValueError.
    """
    lock_project(template.project)
    refuse_text(template.method, text)
    content = _content(template)
    content["wordings"] = {**template.wordings, str(dimension.pk): text}
    return _write(template.project, template.method, template.name, by, **content)


def _lock_template(template: PromptTemplate) -> PromptTemplate:
    lock_project(template.project)
    judgments = Judgment.objects.filter(judge__template=template)
    # Workers lease under the lock of the run, so none of them starts to use this version.
    runs = Run.objects.filter(pk__in=judgments.values("run")).order_by("pk")
    # Evaluated for its locks, in the order of ids, as the sweeper locks runs.
    list(runs.select_for_update().values_list("pk"))
    return PromptTemplate.objects.select_for_update().get(pk=template.pk)


def _content(template: PromptTemplate) -> dict[str, Any]:
    return {"text": template.text, "wordings": template.wordings, "pattern": template.pattern}


def _change(locked: PromptTemplate, to: dict[str, Any], by: User | None) -> PromptTemplate:
    before = _content(locked)
    if before == to:
        return locked
    # Stored judgments refer to this version, so its text must not change.
    if was_asked(locked):
        return _write(locked.project, locked.method, locked.name, by, **to)
    record(locked.project, "prompt.changed", locked, before=before, after=to, by=by)
    for field, value in to.items():
        setattr(locked, field, value)
    locked.save(update_fields=list(to))
    return locked


@transaction.atomic
def shipped_template(*, project: Project, key: str, by: User | None) -> PromptTemplate:
    """Return the project's version of a shipped prompt; write it if there is none. Locks the project."""
    lock_project(project)
    found = _find_shipped(project, key)
    return found if found.pk else _write(project, found.method, found.name, by, text=found.text)


def _find_shipped(project: Project, key: str) -> PromptTemplate:
    prompt = shipped_prompt(key)
    text = {"project": project, "method": prompt.method, "text": prompt.text}
    # A version with a changed text, wording or pattern is no longer the shipped prompt.
    same = PromptTemplate.objects.filter(**text, wordings={}, pattern="")
    return same.order_by("pk").first() or PromptTemplate(**text, name=prompt.label, version=1)


def _write(project: Project, method: str, name: str, by: User | None, **content: Any) -> PromptTemplate:
    # Candidates of searches are hidden, but their version numbers are in use, too.
    versions = PromptTemplate.with_candidates.filter(project=project, name=name)
    last = versions.aggregate(last=Max("version"))["last"] or 0
    made = PromptTemplate.objects.create(
        project=project, method=method, name=name, version=last + 1, created_by=by, **content
    )
    record(project, "prompt.added", made, after={"method": method, **_content(made)}, by=by)
    return made


# Judges made, and changed until they have judgments.


@transaction.atomic
def add_judge(*, project: Project, judge: JudgeSpec, by: User | None) -> Judge:
    """Create a judge. Locks the project. Raises InvalidValueError."""
    lock_project(project)
    _judges_refuse(project, judge)
    made = Judge.objects.create(project=project, **_values(project, judge, by))
    record(project, "judge.added", made, after=facts(made, _RECORDED), by=by)
    return made


@transaction.atomic
def add_judges(
    *, project: Project, judges: Sequence[JudgeSpec], numbers_names: bool = False, by: User | None
) -> list[Judge]:
    """Create judges for comparison with each other. Locks the project. Raises InvalidValueError.

    numbers_names: adds a number to a name that another judge has, instead of rejecting it. An existing judge
    with the same prompt and settings is reused under any name: no call is paid twice.
    """
    lock_project(project)
    found: list[Judge] = []
    for each in judges:
        # An equal judge is taken under any name: a second one would ask the same again.
        alike = _find_alike(project, _values(project, each, by))
        named = replace(each, name=free_name(project, each.name)) if numbers_names else each
        found.append(alike or add_judge(project=project, judge=named, by=by))
    _refuse_repeated(found)
    return found


def preview_judges(*, project: Project, judges: Sequence[JudgeSpec]) -> list[Judge]:
    """Return the result of `add_judges` without writing; a new judge has a negative id.

    Raises InvalidValueError. Up to six queries for each judge.
    """
    found = []
    for position, each in enumerate(judges, start=1):
        template = _find_shipped(project, each.template) if isinstance(each.template, str) else each.template
        values = _values(project, replace(each, template=template), None)
        # A prompt that is not stored yet has no judges.
        alike = _find_alike(project, values) if template.pk else None
        if alike is None:
            values["name"] = free_name(project, each.name)
            _judges_refuse(project, replace(each, name=values["name"]))
        found.append(alike or Judge(pk=-position, project=project, **values))
    _refuse_repeated(found)
    return found


def _refuse_repeated(judges: Sequence[Judge]) -> None:
    """Raise InvalidValueError if two variants have the same prompt and settings, so are one judge."""
    keys = [each.pk for each in judges]
    for each in judges:
        if keys.count(each.pk) > 1:
            says = gettext("Two variants have the prompt and settings of {name}. Leave one of them out.")
            raise InvalidValueError(says.format(name=each.name))


def free_name(project: Project, name: str) -> str:
    """Return a name that no judge of the project has: this one, or this one with a number. One query."""
    taken = set(Judge.with_candidates.filter(project=project).values_list("name", flat=True))
    # 75 characters leave room for a number within the 80 that names may have.
    numbered = (f"{name[:75]} {number}" for number in range(2, len(taken) + 3))
    return next(each for each in (name, *numbered) if each not in taken)


def add_label(name: str, label: str) -> str:
    """Return a name that ends with a label, cut to the 80 characters that names may have."""
    return f"{name[: 80 - len(label) - 3]} · {label}"


def copy_settings(judge: Judge) -> dict[str, Any]:
    """Return the column values that a hidden copy inherits; not its name and prompt."""
    own = {"id", "name", "template", "tried_by", "rechecks", "created_at", "archived_at"}
    fields = [each for each in Judge._meta.concrete_fields if each.name not in own]
    return {field.attname: getattr(judge, field.attname) for field in fields}


def _find_alike(project: Project, values: Mapping[str, Any]) -> Judge | None:
    """Return the judge in use with the same prompt and settings; ignores max_tokens_name, which Concord
    detects.
    """
    same = {name: value for name, value in values.items() if name not in ("name", "max_tokens_name")}
    judges = Judge.objects.filter(project=project, archived_at=None, **same)
    found = list(judges.select_related("endpoint", "template").order_by("pk"))
    return next((each for each in found if each.name == values["name"]), found[0] if found else None)


@transaction.atomic
def update_judge(*, judge: Judge, to: JudgeSpec, by: User | None, may_be_same: bool = False) -> Judge:
    """Replace all settings of a judge without judgments. Locks the project, as planning a run does.

    may_be_same: returns a judge that has these values already, even with judgments. Raises InvalidValueError,
    and InUseError once judgments of it were planned.
    """
    project = lock_project(judge.project)
    judge = Judge.with_candidates.select_for_update().get(pk=judge.pk)
    has_judgments = judge.judgments.exists()
    if not has_judgments:
        _judges_refuse(project, to, besides=judge)
    values = _values(project, to, by)
    if may_be_same and all(getattr(judge, field) == value for field, value in values.items()):
        return judge
    # Its judgments rest on these settings, which exports report with them.
    if has_judgments:
        says = gettext("{name} has judgments, so you cannot change it; create a new judge.")
        raise InUseError(says.format(name=judge.name))
    before = facts(judge, _RECORDED)
    for field, value in values.items():
        setattr(judge, field, value)
    judge.save(update_fields=list(values))
    record(project, "judge.changed", judge, before=before, after=facts(judge, _RECORDED), by=by)
    return judge


_RECORDED = ["name", "endpoint", "model", "method", "template", *names_of_settings()]


def _values(project: Project, judge: JudgeSpec, by: User | None) -> dict[str, Any]:
    template = judge.template
    if isinstance(template, str):
        # The first judge with a shipped prompt makes it a version of the project.
        template = shipped_template(project=project, key=template, by=by)
    # Specifications have keys of dimensions; judges store their ids, in the same order.
    keys = judge.asked_together
    found = dict(project.dimensions.filter(key__in=keys).values_list("key", "pk"))
    ids = [found[key] for key in keys]
    return {
        "name": judge.name,
        "endpoint": judge.endpoint,
        "model": judge.model,
        "method": template.method,
        "template": template,
        **{name: getattr(judge, name) for name in names_of_settings()},
        "max_tokens": judge.max_tokens or METHODS[template.method].max_tokens,
        "asked_together": ids,
    }


def _judges_refuse(project: Project, judge: JudgeSpec, *, besides: Judge | None = None) -> None:
    # Candidates of searches are hidden, but their names are in use, too.
    others = Judge.with_candidates.filter(project=project).exclude(pk=besides.pk if besides else 0)
    if others.filter(name=judge.name).exists():
        says = gettext("The project has a judge {judge} already; choose another name.")
        raise invalid_field("name", says.format(judge=judge.name))
    if judge.endpoint.project_id != project.pk:
        raise invalid_field("endpoint", gettext("This endpoint belongs to another project."))
    if not isinstance(judge.template, str) and judge.template.project_id != project.pk:
        raise invalid_field("template", gettext("This prompt belongs to another project."))
    # What the endpoint's interface and the reading of replies support.
    if judge.structured and judge.score_from == ScoreFrom.PROBABILITIES:
        raise invalid_field(
            "structured", gettext("Probabilities are read in plain replies; choose one of both.")
        )
    dialect = DIALECTS[judge.endpoint.dialect]
    if refused := dialect.refuses(judge):
        raise invalid_field(refused.field, refused.sentence)
    # An additional field must not contradict a setting that Concord stores and sends.
    if own := sorted(dialect.own_fields & judge.extra_body.keys()):
        raise invalid_field(
            "extra_body", gettext("Concord sends {field} itself; leave it out here.").format(field=own[0])
        )
    _refuse_scale(judge)
    _refuse_together(project, judge)
    # A prompt that shows a reference needs one, and no other prompt has a place for it.
    template, system = judge.template, judge.reference
    texts = [shipped_prompt(template).text] if isinstance(template, str) else template.texts
    shows = any("reference" in placeholders(text) for text in texts)
    if shows and system is None:
        raise invalid_field(
            "reference", gettext("This prompt shows a reference; choose the system whose texts these are.")
        )
    if system is not None and not shows:
        message = gettext("This prompt shows no reference; choose none, or a prompt with {{ reference }}.")
        raise invalid_field("reference", message)
    if system is not None and system.project_id != project.pk:
        raise invalid_field("reference", gettext("This system belongs to another project."))


def _method(judge: JudgeSpec) -> Method:
    template = judge.template
    return METHODS[shipped_prompt(template).method if isinstance(template, str) else template.method]


def _refuse_together(project: Project, judge: JudgeSpec) -> None:
    """Raise InvalidValueError for unknown dimensions in one call, or a method that covers one per call."""
    method = _method(judge)
    if not method.asks_several:
        if judge.asked_together or judge.call_order != CallOrder.FIXED:
            message = gettext(
                "This prompt asks about one dimension a call; leave this empty, or choose another prompt."
            )
            raise invalid_field("asked_together", message)
        return
    if judge.score_from == ScoreFrom.PROBABILITIES:
        raise invalid_field(
            "score_from", gettext("A reply gives several scores; read them from the reply’s text.")
        )
    known = set(project.dimensions.values_list("key", flat=True))
    if unknown := sorted(set(judge.asked_together) - known):
        raise invalid_field(
            "asked_together", gettext("There is no dimension {dimension}.").format(dimension=unknown[0])
        )


def _refuse_scale(judge: JudgeSpec) -> None:
    """Raise InvalidValueError for an invalid own scale, or one that its method does not support."""
    method = _method(judge)
    if judge.scale_minimum is None or judge.scale_maximum is None:
        if judge.scale_minimum is not None or judge.scale_maximum is not None:
            field = "scale_minimum" if judge.scale_minimum is None else "scale_maximum"
            raise invalid_field(field, gettext("Enter both ends of the judge’s own scale, or neither."))
        if judge.scale_modifiers or judge.scale_thirds or judge.scale_table:
            raise invalid_field("scale_minimum", gettext("Enter both ends of the judge’s own scale first."))
        return
    # The scale itself, then what the method can ask on it.
    ends, table = (judge.scale_minimum, judge.scale_maximum), tuple(judge.scale_table)
    scale = OwnScale(*ends, judge.scale_modifiers, table, judge.scale_thirds)
    if scale.problem:
        raise invalid_field("scale_table" if scale.table else "scale_maximum", scale.problem)
    if method.asks_pairs:
        raise invalid_field(
            "scale_minimum", gettext("Two texts are compared without a scale; leave it empty.")
        )
    if scale.modifiers and not method.takes_modifiers:
        says = gettext("{method} has no “weak” and “strong”; ask for a score.")
        raise invalid_field("scale_modifiers", says.format(method=method.label))
    if scale.modifiers and judge.score_from == ScoreFrom.PROBABILITIES:
        message = gettext("“Strong 4” is more than one token; read the score from the reply’s text.")
        raise invalid_field("scale_modifiers", message)
    if scale.thirds and not method.takes_modifiers:
        raise invalid_field(
            "scale_thirds", gettext("{method} has no thirds; ask for a score.").format(method=method.label)
        )
    if scale.thirds and judge.score_from == ScoreFrom.PROBABILITIES:
        message = gettext("“3.33” is more than one token; read the score from the reply’s text.")
        raise invalid_field("scale_thirds", message)
