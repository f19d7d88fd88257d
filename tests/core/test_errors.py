"""A refusal is told to programs in one shape, and knows nothing of how it is told."""

import ast
import json
from pathlib import Path

from annotate.core import errors
from annotate.core.errors import InvalidValueError
from annotate.core.responses import error_as_json


def test_api_error_has_code_message_and_fields_with_its_status() -> None:
    response = error_as_json(InvalidValueError("Not on the scale.", fields={"value": "Choose 1 to 5."}))
    assert response.status_code == 422
    assert json.loads(response.content) == {
        "code": "invalid_value",
        "message": "Not on the scale.",
        "fields": {"value": "Choose 1 to 5."},
    }


def test_errors_do_not_depend_on_the_web() -> None:
    source = ast.parse(Path(errors.__file__).read_text())
    imports = [node for node in ast.walk(source) if isinstance(node, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(each) for each in imports] == ["from annotate.core.translation import gettext_noop"]
