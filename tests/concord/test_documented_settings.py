"""Every variable that the code reads is documented, and every documented one is read."""

import ast
import re

from tests.concord.running import ROOT

VARIABLE = re.compile(r"CONCORD_[A-Z_]+|DATABASE_URL")
OF_ONE_PROVIDER = re.compile(
    r"CONCORD_SSO_[A-Z]+_(NAME|URL|CLIENT|SECRET)"
)  # beside each name in CONCORD_SSO
CODE = [path for app in ("concord", "annotate", "judges") for path in (ROOT / app).rglob("*.py")]


def read_by_the_code() -> set[str]:
    """Return the names that stand in the code as whole strings."""
    strings = (
        node.value
        for path in CODE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return {string for string in strings if VARIABLE.fullmatch(string)}


def documented() -> set[str]:
    """Return the names in the first column of the table of settings."""
    text = (ROOT / "docs" / "reference" / "settings.md").read_text()
    return set(re.findall(rf"^\| `({VARIABLE.pattern})` \|", text, flags=re.MULTILINE))


def test_the_table_of_settings_and_the_code_name_the_same_variables() -> None:
    assert documented() == read_by_the_code()
    assert "CONCORD_SECRET_KEY" in documented()


def test_the_examples_use_documented_variables_only() -> None:
    text = (ROOT / "docs" / "how-to" / "deployment.md").read_text()
    used = {name for name in VARIABLE.findall(text) if not OF_ONE_PROVIDER.fullmatch(name)}
    assert used <= documented()
