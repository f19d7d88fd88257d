"""Endpoints added, changed, and tried with one call."""

import asyncio
from dataclasses import asdict, dataclass
from decimal import Decimal

from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.errors import InvalidValueError
from annotate.models import Project
from judges.client import AskedInVain, Client, Question, Reply, Server, key_in_environment
from judges.errors import KeyMissingError
from judges.methods.base import Message
from judges.models import Endpoint
from judges.specification import EndpointSpec
from judges.work import Prices

KEY_SUFFIX = "_API_KEY"
TRIAL_TOKENS = 200


@dataclass(frozen=True)
class Trial:
    """What came of one call: a reply, or in one sentence why there is none. Unknown costs are None."""

    text: str = ""
    problem: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: Decimal | None = None


def refuse_other_variables(name: str) -> None:
    """Raise InvalidValueError unless a variable may hold a key of an endpoint.

    Whoever administers a project chooses the address that the variable's content is sent to, so variables
    that hold anything else, such as the password of the database, must be out of reach.
    """
    if name and not (name.endswith(KEY_SUFFIX) and name.isidentifier() and name.isascii()):
        message = f"The name must be that of a variable and end in {KEY_SUFFIX}, such as OPENAI{KEY_SUFFIX}."
        raise InvalidValueError(message, fields={"key_variable": message})


@transaction.atomic
def add_endpoint(*, project: Project, endpoint: EndpointSpec) -> Endpoint:
    """Let a project ask a server. Locks the project. Raises InvalidValueError."""
    lock_project(project)
    _refuse(project, endpoint)
    record(project, "endpoint.added", endpoint.name, after=asdict(endpoint))
    return Endpoint.objects.create(project=project, **asdict(endpoint))


@transaction.atomic
def update_endpoint(*, endpoint: Endpoint, to: EndpointSpec) -> Endpoint:
    """Make an endpoint what is given; calls in flight end as they began.

    Locks the project, then the endpoint. Raises InvalidValueError.
    """
    lock_project(endpoint.project)
    endpoint = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
    _refuse(endpoint.project, to, besides=endpoint)
    values = asdict(to)
    before = {field: getattr(endpoint, field) for field in values}
    record(endpoint.project, "endpoint.changed", endpoint, before=before, after=values)
    for field, value in values.items():
        setattr(endpoint, field, value)
    endpoint.save(update_fields=list(values))
    return endpoint


@sensitive_variables()
def try_endpoint(*, endpoint: Endpoint, model: str, message: str) -> Trial:
    """Make one real call, outside any transaction, and return what came of it; nothing is written."""
    try:
        server = Server(
            base_url=endpoint.base_url,
            key=key_in_environment(endpoint.key_variable),
            timeout_seconds=endpoint.timeout_seconds,
            calls_in_flight=1,
        )
        question = Question(model, (Message("user", message),), temperature=0, max_tokens=TRIAL_TOKENS)
        reply = asyncio.run(_ask(server, question))
    except KeyMissingError as error:
        return Trial(problem=error.message)
    except AskedInVain as error:
        return Trial(problem=error.sentence)
    prices = Prices(endpoint.input_price, endpoint.output_price)
    return Trial(
        text=reply.text,
        seconds=reply.seconds,
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        cost=prices.cost(reply.input_tokens, reply.output_tokens),
    )


@sensitive_variables()
async def _ask(server: Server, question: Question) -> Reply:
    client = Client(server)
    try:
        return await client.ask(question)
    finally:
        await client.close()


def _refuse(project: Project, endpoint: EndpointSpec, *, besides: Endpoint | None = None) -> None:
    refuse_other_variables(endpoint.key_variable)
    others = Endpoint.objects.filter(project=project).exclude(pk=besides.pk if besides else 0)
    if others.filter(name=endpoint.name).exists():
        message = f"The project has an endpoint {endpoint.name} already; choose another name."
        raise InvalidValueError(message, fields={"name": message})
