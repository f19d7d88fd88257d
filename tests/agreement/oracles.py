"""The oracle of each statistic, declared by tests with `@pytest.mark.oracle` (make docs writes the table).

oracle: what a value was compared with: a package with its version, a paper's numbers, a fraction worked by
hand, an enumeration or a simulation. of: the public names of the statistics. within: the largest difference;
none if values are equal, or a share is tested.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "reference" / "statistics.md"
BELOW = "<!-- Below this line the text is generated: make docs -->\n"
HEAD = "\n| statistic | oracle | within | test |\n|---|---|---|---|\n"


@dataclass(frozen=True)
class Oracle:
    """One comparison of statistics with something outside of Concord."""

    of: tuple[str, ...]
    oracle: str
    within: float | None
    test: str


@cache
def find_oracles() -> tuple[Oracle, ...]:
    """Return the declarations of all tests of the statistics, file by file."""
    return tuple(_declarations())


def _declarations() -> Iterator[Oracle]:
    for path in sorted((ROOT / "tests" / "agreement").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                for decorator in node.decorator_list:
                    if ast.unparse(decorator).startswith("pytest.mark.oracle("):
                        assert isinstance(decorator, ast.Call)
                        yield _read(decorator, str(path.relative_to(ROOT / "tests" / "agreement")))


def _read(mark: ast.Call, test: str) -> Oracle:
    given = {each.arg: ast.literal_eval(each.value) for each in mark.keywords}
    of = given["of"]
    return Oracle(
        of=(of,) if isinstance(of, str) else tuple(of),
        oracle=ast.literal_eval(mark.args[0]),
        within=given.get("within"),
        test=test,
    )


def describe_oracles() -> Iterator[str]:
    """Yield the table, a row for each statistic and oracle."""
    yield HEAD
    rows = {
        (name, each.oracle, _number(each.within), each.test) for each in find_oracles() for name in each.of
    }
    for name, oracle, within, test in sorted(rows):
        yield f"| `{name}` | {oracle} | {within} | `{test}` |\n"


def _number(within: float | None) -> str:
    return "–" if within is None else f"{within:g}".replace("e-0", "e-")


def described_document() -> str:
    """Return the document: its hand-written part, then the generated one."""
    written, below, _ = DOCUMENT.read_text(encoding="utf-8").partition(BELOW)
    return written + below + "".join(describe_oracles())


if __name__ == "__main__":
    DOCUMENT.write_text(described_document(), encoding="utf-8")
