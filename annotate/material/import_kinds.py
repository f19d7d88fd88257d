"""The import kinds of uploaded files: annotate's own, and those from other apps."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotate.core.models import DataImport
from annotate.material.reading.opening import Opening
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.report import FileReport

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


@dataclass(frozen=True)
class ImportKind:
    """A kind of uploaded files: their import, and the content of the import's page.

    run: imports a file and reports progress; the last act of its transaction is to report "written". report:
    the class of its reports. form: the form with the meanings of the columns, a ColumnsForm. preview: the
    first records under a mapping and the form's other choices; it has a `report`. page, pages: the routes of
    one import, which takes slug and pk, and of all of this kind. all_name: the link to all. after,
    after_name: the URL of the next page after an import, and its link. rows: the template of a preview's
    first rows. holds: the contents of its files, as part of a message. recognises: True if a file is plainly
    of this kind.
    """

    key: str
    run: Callable[[DataImport, OnProgress], FileReport]
    report: type[FileReport]
    form: Callable[[Mapping[str, Any] | None, DataImport, Opening], Any]
    preview: Callable[[DataImport, Opening, Any, Mapping[str, Any]], Any]
    page: str
    pages: str
    all_name: "StrOrPromise"
    after: Callable[[str], str]
    after_name: "StrOrPromise"
    rows: str
    may_be_undone: bool = False
    holds: "StrOrPromise" = ""
    recognises: Callable[[DataImport, Opening], bool] = lambda _upload, _opening: False


KINDS: dict[str, ImportKind] = {}
