"""A sentence of an error or a result that people see is an argument of gettext, so it can be translated."""

import ast
import re
from collections.abc import Iterator

import pytest
from django.utils.translation import override

from annotate.core import translation
from tests.catalog import ROOT

pytestmark = pytest.mark.once
UNSEEN = re.compile(r"/(management|migrations)/")  # commands print these, no page does
SENTENCE = re.compile(r"[^\W\d_]{2,}.*\s.*[^\W\d_]{2,}", re.DOTALL)
# Besides DomainError and its subclasses.
ERRORS = {
    *("CannotBeMetError", "Http404", "ListRefusedError", "MappingError", "NotTogetherError"),
    *("PermissionDenied", "RefusedFieldError", "RefusedFileError", "RefusedLine", "RequestFailed"),
    *("RunMustStop", "TemplateRefusedError", "Unreadable", "UnreadableFileError", "ValidationError"),
}
RESULTS = {"Cell", "Column", "NumberParameter", "Parameter", "ResultsPage", "Section", "Table"}


def modules() -> dict[str, ast.Module]:
    files = [file for app in ("annotate", "judges") for file in sorted((ROOT / app).rglob("*.py"))]
    named = {str(file.relative_to(ROOT)): file for file in files}
    return {name: ast.parse(file.read_text()) for name, file in named.items() if not UNSEEN.search(name)}


def name_of(node: ast.AST | None) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def shown_classes(trees: dict[str, ast.Module]) -> set[str]:
    """Return the classes whose texts pages show: those above, and what inherits from them, at any depth."""
    classes = [node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    found, before = {"DomainError"} | ERRORS | RESULTS, 0
    while before < len(found):
        before = len(found)
        found |= {each.name for each in classes if found & set(map(name_of, each.bases))}
    return found


class Messages(ast.NodeVisitor):
    """Collects the sentences that a module gives to shown classes, and not to gettext."""

    def __init__(self, tree: ast.Module, classes: set[str]) -> None:
        self.found: list[str] = []
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        self.makers = classes | {each.name for each in functions if name_of(each.returns) in classes}
        self.scopes: list[dict[str, list[ast.expr]]] = [assigned(tree)]
        self.visit(tree)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scopes.append(assigned(node))
        self.generic_visit(node)
        self.scopes.pop()

    def visit_Call(self, node: ast.Call) -> None:
        if name_of(node.func) in self.makers:
            for argument in (*node.args, *(each.value for each in node.keywords)):
                self.found += filter(SENTENCE.search, self.texts(argument, frozenset()))
        self.generic_visit(node)

    def texts(self, node: ast.expr, seen: frozenset[str]) -> Iterator[str]:
        match node:
            case ast.Constant(value=str(text)):
                yield text
            case ast.JoinedStr():
                yield "".join(
                    str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
                )
            case ast.Name(id=name) if name not in seen:
                scope = next((scope for scope in reversed(self.scopes) if name in scope), {})
                for value in scope.get(name, []):
                    yield from self.texts(value, seen | {name})
            case ast.Call(func=ast.Attribute(value=inner, attr="format" | "strip")):
                yield from self.texts(inner, seen)
            case (
                ast.IfExp()
                | ast.BoolOp()
                | ast.BinOp()
                | ast.List()
                | ast.Tuple()
                | ast.Dict()
                | ast.Starred()
            ):
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr) and child is not getattr(node, "test", None):
                        yield from self.texts(child, seen)
            case ast.Subscript(value=inner):
                yield from self.texts(inner, seen)


def assigned(scope: ast.AST) -> dict[str, list[ast.expr]]:
    """Return the values of each name in a module or function; functions inside it are left out."""
    found: dict[str, list[ast.expr]] = {}
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
        waiting += ast.iter_child_nodes(node)
    return found


def untranslated(source: str, classes: set[str]) -> list[str]:
    return Messages(ast.parse(source), classes).found


def test_messages_are_arguments_of_gettext() -> None:
    trees = modules()
    classes = shown_classes(trees)
    found = {name: Messages(tree, classes).found for name, tree in trees.items()}
    assert not {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize(
    "source",
    [
        'raise RefusedLine(1, "", "Not a number.")',
        'raise RefusedLine(1, "", f"{name} is missing.")',
        'raise RefusedLine(1, "", "{} is missing.".format(name))',
        'def f():\n    reason = "It is missing." if name else ""\n    raise RefusedLine(1, "", reason)',
        'REASONS = {1: "It is missing."}\ndef f(): raise RefusedLine(1, "", REASONS[1])',
        'def _invalid() -> RefusedLine: ...\nraise _invalid("key", "It is missing.")',
    ],
)
def test_message_outside_gettext_is_detected(source: str) -> None:
    assert untranslated(source, {"RefusedLine"})


@pytest.mark.parametrize(
    "source",
    [
        'raise RefusedLine(1, "", gettext("Not a number."))',
        'raise RefusedLine(1, "", gettext("{name} is missing.").format(name=name))',
        'REASON = gettext_lazy("It is missing.")\ndef f(): raise RefusedLine(1, "", str(REASON))',
        'raise ValueError("Nobody sees this.")',
    ],
)
def test_message_in_gettext_is_accepted(source: str) -> None:
    assert not untranslated(source, {"RefusedLine"})


def test_packages_without_django_translate_as_django_does() -> None:
    with override("de"):
        assert translation.gettext("annotator") == "Annotator"
        assert translation.gettext_noop("annotator") == "annotator"
        assert translation.ngettext("{count} unit", "{count} units", 2) == "{count} units"
