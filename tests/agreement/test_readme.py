"""The examples of agreement/README.md give what it shows."""

import doctest
import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "agreement" / "README.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)


def test_readme_examples_give_the_printed_output() -> None:
    example = doctest.DocTestParser().get_doctest("\n".join(EXAMPLES), {}, README.name, str(README), 0)
    failures: list[str] = []
    found = doctest.DocTestRunner().run(example, out=failures.append)
    assert not found.failed, "".join(failures)
    assert found.attempted > 40


def test_readme_has_ten_sections_with_examples() -> None:
    sections = README.read_text().split("\n## ")[1:]
    assert len(sections) == 10
    assert all("```python\n>>> " in each for each in sections)
