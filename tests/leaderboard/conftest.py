"""A finished benchmark with a version and a public page."""

import pytest

from annotate.core.models import PublicLeaderboard, Version
from annotate.leaderboard.queries import leaderboard_of
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

VALUES = {0: [1, 5, 1, 4, 2, 5, 1, 5], 1: [1, 5, 2, 5, 1, 4, 1, 5]}


@pytest.fixture
def cast() -> Cast:
    """Two raters on two systems of four documents; the second system is better on each."""
    made = make_project(documents=4, systems=2, annotators=2)
    for number, item in enumerate(made.items):
        item.document.metadata = {"genre": "news" if number < 4 else "blog", "source": f"page {number // 2}"}
        item.document.save()
    round = opened(made)
    for index, values in VALUES.items():
        for item, value in zip(made.items, values, strict=True):
            rate(made, round, made.annotators[index], item, value)
    return made


@pytest.fixture
def board(cast: Cast) -> PublicLeaderboard:
    """A public page that takes submissions and does not release texts."""
    Version.objects.create(
        project=cast.project,
        major=1,
        minor=0,
        changelog="First version.",
        content_hash="c" * 64,
        leaderboard=leaderboard_of(cast.project).to_dict(),
    )
    return PublicLeaderboard.objects.create(
        project=cast.project, is_public=True, takes_submissions=True, metadata_names=["genre"]
    )
