"""Random numbers begin in one place, so that a figure has one interval by whichever door it is read."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STREAMS = ROOT / "agreement/streams.py"
SEEDS = re.compile(r"default_rng|RandomState|np\.random\.seed|random\.Random\(|random\.seed\(")
MODULES = sorted(path for app in ("agreement", "annotate", "judges") for path in (ROOT / app).rglob("*.py"))


def test_only_streams_seed_random_numbers() -> None:
    found = {str(path.relative_to(ROOT)) for path in MODULES if SEEDS.search(path.read_text())}
    assert found == {str(STREAMS.relative_to(ROOT))}


@pytest.mark.parametrize(
    "line", ["np.random.default_rng(seed)", "random.Random(f'{seed} disputes')", "np.random.seed(1)"]
)
def test_other_ways_to_seed_are_recognised(line: str) -> None:
    assert SEEDS.search(line)
    assert not SEEDS.search("generator: random.Random")
