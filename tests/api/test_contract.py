"""No request, valid or not, is answered by a fault or by what the description does not say."""

import os
from datetime import timedelta
from typing import Any

import pytest
from schemathesis.core.failures import Failure, FailureGroup

from annotate.api.tokens import SCOPES, make_token
from annotate.core.models import Role
from judges.routing.commands.policies import make_policy
from tests.api.fuzzing import one_connection, operations, played
from tests.factories import make_member, make_project
from tests.judges.factories import make_judge, make_judgments, make_run
from tests.judges.routing.project import spec_of
from tests.rating.rounds import discussed

pytestmark = pytest.mark.django_db
EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "1"))


def names_of_a_project() -> tuple[str, dict[str, Any]]:
    """Make a project in Round II and someone who administers it and rates; return their token, and names."""
    cast = make_project()
    user = cast.annotators[0].user
    assert user
    for method in ("rts", "mcq"):
        make_judgments(make_judge(cast.project, method), cast, lambda *_unit: 3)
    make_policy(project=cast.project, spec=spec_of(cast), by=cast.admin)
    run = make_run(cast.project, make_judge(cast.project))
    dispute = discussed(cast, 1, 3, 5)
    make_member(cast.project, Role.ADMIN, user=user)
    _, secret = make_token(user=user, name="fuzz", scopes=SCOPES, lasts=timedelta(days=1))
    names = {"slug": cast.project.slug, "key": "fluency", "position": 1, "step": "close-2"}
    return secret, {**names, "number": dispute.number, "pk": run.pk}


def test_every_operation_keeps_to_its_description():
    secret, names = names_of_a_project()
    wrong = []
    with one_connection():
        for operation in operations():
            wrong += contradictions(operation, secret, names)
    assert not wrong, "\n\n".join(wrong)


def contradictions(operation: Any, secret: str, names: dict[str, Any]) -> list[str]:
    """Return what an operation did that it does not say."""
    try:
        played(operation, secret=secret, names=names, examples=EXAMPLES, repeats=EXAMPLES == 1)
    except (FailureGroup, Failure) as error:
        return [f"{operation.label}\n{error}\n{getattr(error, 'exceptions', '')}"]
    return []
