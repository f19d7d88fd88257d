"""Keys in the environment: read only for the hosts and projects that the operator lists."""

import os

from django.conf import settings
from django.utils.translation import gettext
from django.views.decorators.debug import sensitive_variables

from annotate.core.errors import DomainError
from annotate.core.outbound.permits import host_of


class VariableRefusedError(DomainError):
    """An environment variable that is not set, or not permitted for a host."""

    code = "key_missing"


def may_send(variable: str, *, url: str, project: str) -> bool:
    """Return True if the operator permits a project (its slug) to send a variable to the host of a URL."""
    permitted_host = host_of(url)
    return any(
        permit.variable == variable
        and permit.permitted_host == permitted_host
        and (not permit.projects or project in permit.projects)
        for permit in settings.ENVIRONMENT_KEYS
    )


def refuse_variable(variable: str, *, url: str, project: str) -> None:
    """Raise VariableRefusedError if `may_send` is false."""
    if not may_send(variable, url=url, project=project):
        sentence = gettext(
            "This project may not send {variable} to {host}. Ask the operator to list it in "
            "CONCORD_ENVIRONMENT_KEYS."
        )
        raise VariableRefusedError(sentence.format(variable=variable, host=host_of(url).host))


@sensitive_variables()
def read_variable(variable: str, *, url: str, project: str) -> str:
    """Return the value of a variable. Raises VariableRefusedError if it is not set or not permitted there."""
    refuse_variable(variable, url=url, project=project)
    value = os.environ.get(variable, "").strip()
    if not value:
        sentence = gettext(
            "The environment variable {variable} is not set on this server. Set it and restart."
        )
        raise VariableRefusedError(sentence.format(variable=variable))
    return value
