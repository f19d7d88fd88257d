"""The project, the model and the judge that most tests of learning need."""

from collections.abc import Iterator

import pytest

from judges.core.models import Judge
from tests.factories import Cast
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.laboratory.rumours import answer, make_rumours
from tests.judges.provider import Provider, providing


@pytest.fixture
def cast() -> Cast:
    return make_rumours()


@pytest.fixture
def provider() -> Iterator[Provider]:
    with providing(reply_to=answer) as provider:
        yield provider


@pytest.fixture
def judge(cast: Cast, provider: Provider) -> Judge:
    endpoint = make_priced_endpoint(cast.project, provider.base_url)
    return make_judge(cast.project, "direct", endpoint=endpoint, name="Base")
