"""What there is to translate, and the catalog of translations, read without gettext's own tools."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "locale" / "de" / "LC_MESSAGES"
CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop", "ngettext", "pgettext"}
LITERAL = r"(?:u?'(?:[^'\\]|\\.)*'|u?\"(?:[^\"\\]|\\.)*\")"
IN_TEMPLATES = re.compile(rf"\b(?:_|gettext|ngettext)\(\s*({LITERAL})", re.DOTALL)
ENTRY = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[\d\])?) ((?:"(?:[^"\\]|\\.)*"\n?)+)', re.MULTILINE)


def sentences_of(*folders: str) -> dict[str, str]:
    """Return what templates and modules in these folders (or files, or `file::name`) have translated, with
    where it stands."""
    return {
        text: str(path.relative_to(ROOT)) for path, name in _files(folders) for text in _sentences(path, name)
    }


@cache
def german() -> dict[str, list[str]]:
    """Return the translations of each sentence, as the .po file has them: one, or one for each number."""
    found: dict[str, list[str]] = {}
    for name, lines in ENTRY.findall((FOLDER / "django.po").read_text()):
        text = "".join(ast.literal_eval(line) for line in lines.strip().splitlines())
        if name == "msgid":
            translations = found.setdefault(text, [])
        elif name.startswith("msgstr"):
            translations.append(text)
    return found


def _files(folders: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        folder, _, name = folder.partition("::")
        location = ROOT / folder
        found = [location] if location.is_file() else sorted(location.rglob("*"))
        yield from ((path, name) for path in found if path.suffix in {".html", ".txt", ".py"})


def _sentences(path: Path, name: str) -> Iterator[str]:
    text = path.read_text()
    if path.suffix == ".py":
        yield from _sentences_of_code(text, name)
        return
    for literal in IN_TEMPLATES.findall(templatize(text, origin=str(path))):
        yield ast.literal_eval(literal).replace("\r\n", "\n")


def _parts(text: str, name: str) -> Iterator[ast.AST]:
    found = [node for node in ast.parse(text).body if not name or name in _names(node)]
    assert found or not name, f"{name} is not there"
    for node in found:
        yield from ast.walk(node)


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {node.name}
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _sentences_of_code(text: str, name: str) -> Iterator[str]:
    for node in _parts(text, name):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in CALLS:
            continue
        first = node.args[0] if node.args else None
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value
