"""Checks of judgments made elsewhere, and the preview of their import, which writes nothing."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.guidelines import current_guideline
from annotate.core.models import Project
from annotate.material.queries.catalogue import BATCH, Catalogue, ItemRecord, NamesInFile
from annotate.material.queries.file_reading import FileReading, check_whole_file
from annotate.material.queries.ratings import plain_word
from annotate.material.reading.progress import OnProgress, silent
from annotate.material.reading.report import Causes
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.source import Source
from annotate.material.reading.values import RefusedFieldError
from judges.core.models import Judge, Judgment
from judges.interchange.reading import (
    JUDGE_LIMIT,
    ImportedJudgment,
    JudgmentCounts,
    JudgmentMapping,
    JudgmentReport,
    row_of,
)
from judges.methods import METHODS, Method
from judges.methods.base import Readable, Reading, Unreadable

Unit = tuple[int, int, int]  # dimension, item, the other item or -1; items by their numbers
ALONE = -1


KEPT_READINGS = 20_000  # parsed replies in memory, about 1 kB each
# Parsed replies by line, each with the arguments of the parser.
Readings = dict[int, tuple[tuple[object, ...], Reading]]
Existing = tuple[float | None, bytes | None]
"""An existing judgment of one unit and sample: the value, and a digest of the reply if there was one."""


@dataclass(frozen=True, slots=True)
class ResolvedJudgment:
    """A row with its resolved objects, and the parsed reply."""

    row: ImportedJudgment
    judge: Judge
    dimension: FrozenDimension
    item: ItemRecord
    other: ItemRecord | None
    sample: int
    reading: Reading

    @property
    def unit(self) -> Unit:
        return self.dimension.id, self.item.number, self.other.number if self.other else ALONE

    @property
    def content(self) -> Existing:
        value = self.reading.value if isinstance(self.reading, Readable) else None
        return value, None if self.row.reply is None else _digest(self.row.reply)


class JudgmentCheck:
    """Checks rows and counts the judgments that they would create; an importer also writes them.

    Holds ids, values and digests of replies, both of the judges in the file and of the file itself. One
    query, and one more for each existing judge. readings: parsed replies of earlier checks of the file, to
    which this check adds its own.
    """

    def __init__(
        self, project: Project, catalogue: Catalogue, guideline: FrozenGuideline, readings: Readings
    ) -> None:
        self.project, self.catalogue, self.readings = project, catalogue, readings
        self.made, self.already_there = JudgmentCounts(), JudgmentCounts()
        self.unreadable = Causes()
        self._dimensions = {
            plain_word(word): each for each in guideline.dimensions for word in (each.name, each.key)
        }
        self._dimension_names = [each.name for each in guideline.dimensions]
        self._item_numbers = catalogue.item_numbers
        judges = Judge.objects.filter(project=project).select_related("template")
        self.judges = {judge.name: judge for judge in judges}
        self._rescaled: dict[tuple[str, int], FrozenDimension] = {}
        # By the judge's name, of the judges that the file names.
        self.given: dict[str, dict[tuple[Unit, int], Existing]] = {}
        # Rows of the file about a unit without their own number.
        self._unnumbered: Counter[tuple[str, Unit]] = Counter()

    def take(self, row: ImportedJudgment) -> ResolvedJudgment:
        """Resolve a row. Raises RefusedFieldError for a name or value that the project does not have."""
        method = METHOD_BY_WORD.get(plain_word(row.method))
        if method is None:
            raise RefusedFieldError(
                "method",
                gettext("There is no such method; there are {methods}.").format(methods=METHOD_NAMES),
                row.method,
            )
        # Names become objects of the project, or a reason to leave the row out.
        dimension = self._dimension(row, method)
        item, other = self._items(row, method)
        judge = self._judge(row, method)
        unit = dimension.id, item.number, other.number if other else ALONE
        sample = row.sample
        # Numbers follow the order of the file, so a second import of it finds the same judgments.
        if sample is None:
            sample = self._unnumbered[judge.name, unit]
            self._unnumbered[judge.name, unit] += 1
        reading = self._reading(row, method, judge, dimension)
        taken = ResolvedJudgment(row, judge, dimension, item, other, sample, reading)
        # New, the same as before, or contradictory: only a new one is written.
        there = self.given[judge.name].get((unit, sample))
        if there is None:
            self.accept(taken)
        elif _says_the_same(there, taken.content):
            self.already_there.judgments += 1
        else:
            raise RefusedFieldError(
                "reply" if row.reply is not None else "value",
                gettext(
                    "“{judge}” has another reply or value for this text and sample already, and nothing is "
                    "overwritten; leave the row out, or give the judge another name."
                ).format(judge=judge.name),
                gettext("“{system}” on “{document}”, {dimension}, sample {sample}").format(
                    system=row.system, document=row.document, dimension=dimension.name, sample=sample
                ),
            )
        return taken

    def accept(self, taken: ResolvedJudgment) -> None:
        """Count a judgment that the project does not have; an importer writes it."""
        # Later rows of the file are compared with this one, too.
        self.given[taken.judge.name][taken.unit, taken.sample] = taken.content
        taken.judge.samples = max(taken.judge.samples, taken.sample + 1)
        self.made.judgments += 1
        if isinstance(taken.reading, Unreadable):
            self.unreadable.add(RefusedLine(taken.row.line, "reply", taken.reading.reason))

    def new_judge(self, name: str, model: str, method: Method) -> Judge:
        self.made.judges += 1
        made = Judge(
            project=self.project, name=name, model=model, method=method.key, max_tokens=method.max_tokens
        )
        self.judges[name], self.given[name] = made, {}
        return made

    def _dimension(self, row: ImportedJudgment, method: Method) -> FrozenDimension:
        dimension = self._dimensions.get(plain_word(row.dimension))
        if dimension is None:
            known = ", ".join(self._dimension_names) or "none yet"
            raise RefusedFieldError(
                "dimension",
                gettext("The project has no such dimension; it has {known}.").format(known=known),
                row.dimension,
            )
        if reason := method.refuses_kind(dimension) or method.refuses(dimension):
            raise RefusedFieldError("method", reason)
        return dimension

    def _items(self, row: ImportedJudgment, method: Method) -> tuple[ItemRecord, ItemRecord | None]:
        if method.asks_pairs and not row.other:
            raise RefusedFieldError(
                "other",
                gettext("{method} compares two systems; say which one’s text was shown second.").format(
                    method=method.label
                ),
            )
        if row.other and not method.asks_pairs:
            raise RefusedFieldError(
                "other",
                gettext("{method} judges one text at a time; leave the other system out.").format(
                    method=method.label
                ),
            )
        if row.other == row.system:
            raise RefusedFieldError("other", gettext("A system is not compared with itself."), row.system)
        return self._item(row.document, row.system), self._item(
            row.document, row.other
        ) if row.other else None

    def _item(self, document: str, system: str) -> ItemRecord:
        if item := self.catalogue.item(document, system):
            return item
        if document not in self.catalogue.documents:
            reason = gettext("The project has no such document; import documents and items first.")
            raise RefusedFieldError("document", reason, document)
        if system not in self.catalogue.systems:
            reason = gettext(
                "The project has no such system; import its texts first, or use the name that it has here."
            )
            raise RefusedFieldError("system", reason, system)
        reason = gettext("The system has no text for this document in the project; import items first.")
        raise RefusedFieldError("document", reason, f"“{system}” on “{document}”")

    def _judge(self, row: ImportedJudgment, method: Method) -> Judge:
        name = row.judge or f"{row.model}, {method.label}"
        judge = self.judges.get(name)
        if judge is None:
            # A row without the name of a judge gets one of model and method.
            if not row.judge:
                if not row.model:
                    raise RefusedFieldError(
                        "judge", gettext("The row names neither a judge nor a model; name the judge.")
                    )
                if len(name) > JUDGE_LIMIT:
                    reason = gettext(
                        "Model and method together are longer than the {limit} characters of a name; name it."
                    ).format(limit=JUDGE_LIMIT)
                    raise RefusedFieldError("judge", reason, name)
            return self.new_judge(name, row.model, method)
        _refuse_other_judge(judge, row, method)
        if name not in self.given:
            self.given[name] = self._existing_judgments(judge)
        return judge

    def _existing_judgments(self, judge: Judge) -> dict[tuple[Unit, int], Existing]:
        numbers = self._item_numbers
        judgments = Judgment.objects.filter(judge=judge.pk)
        # A preview needs only the items of its first records.
        if self.catalogue.named:
            judgments = judgments.filter(item__in=numbers)
        columns = judgments.values_list("dimension", "item", "other", "sample", "status", "value", "reply")
        given = {}
        for dimension, item, other, sample, status, value, reply in columns.iterator(BATCH):
            second = ALONE if other is None else numbers.get(other)
            # A preview may not have loaded the second item, and then its records contain no such pair.
            if second is not None:
                was_read = bool(reply) or status == Judgment.Status.UNREADABLE
                digest = _digest(reply) if was_read else None
                given[(dimension, numbers[item], second), sample] = value, digest
        return given

    def _reading(
        self, row: ImportedJudgment, method: Method, judge: Judge, dimension: FrozenDimension
    ) -> Reading:
        """Return the judge's parse of a reply, or the value recorded instead of one."""
        # A judge may have a scale of its own, and its replies are on that scale.
        unit = judge.name, dimension.id
        if unit not in self._rescaled:
            self._rescaled[unit] = judge.rescale(dimension)
        dimension = self._rescaled[unit]
        if row.reply is None:
            assert row.value is not None
            if reason := method.refuses_value(row.value, dimension):
                raise RefusedFieldError("value", reason, f"{row.value:g}")
            return Readable(row.value)
        pattern = judge.template.pattern if judge.template else ""
        # If a scale or a pattern changed after the check, the reply is parsed again.
        asked = (_digest(row.reply), method.key, pattern, dimension)
        kept = self.readings.get(row.line)
        if kept and kept[0] == asked:
            reading = kept[1]
        else:
            reading = method.read_about(row.reply, dimension, [dimension], pattern=pattern)
            if len(self.readings) < KEPT_READINGS:
                self.readings[row.line] = asked, reading
        if row.value is not None:
            _refuse_disagreement(reading, row.value)
        return reading


def _refuse_other_judge(judge: Judge, row: ImportedJudgment, method: Method) -> None:
    # The replies of its own calls have parameters and prompts, which imported ones lack.
    if judge.endpoint_id is not None:
        raise RefusedFieldError(
            "judge",
            gettext(
                "“{judge}” asks an endpoint, and judgments made elsewhere are not mixed with its own; "
                "give the imported judge another name."
            ).format(judge=judge.name),
        )
    if judge.method != method.key:
        raise RefusedFieldError(
            "method",
            gettext(
                "“{judge}” judges by {own_method}, and these rows by {method}; "
                "give each method a judge of its own name."
            ).format(
                judge=judge.name,
                own_method=(METHODS[judge.method].label if judge.method in METHODS else judge.method),
                method=method.label,
            ),
        )
    # A file may leave the model out, but must not name another one.
    if row.model and row.model != judge.model:
        raise RefusedFieldError(
            "model",
            gettext("“{judge}” is the model {model}; give each model a judge of its own name.").format(
                judge=judge.name, model=judge.model
            )
            if judge.model
            else gettext("“{judge}” is without a model; give each model a judge of its own name.").format(
                judge=judge.name
            ),
            row.model,
        )


def _refuse_disagreement(reading: Reading, value: float) -> None:
    read = f"{reading.value:g}" if isinstance(reading, Readable) else "nothing"
    if not isinstance(reading, Readable) or reading.value != value:
        reason = gettext(
            "The reply reads as another value than the one beside it; import one of the two columns."
        )
        raise RefusedFieldError("value", reason, f"{read} and {value:g}")


def _says_the_same(there: Existing, here: Existing) -> bool:
    # Two replies are compared by their text, a reply and a bare value by the value.
    if there[1] is not None and here[1] is not None:
        return there[1] == here[1]
    return there[0] == here[0]


def _digest(reply: str) -> bytes:
    # A digest, because memory holds one for each judgment of a judge.
    return hashlib.blake2b(reply.encode(), digest_size=16).digest()


METHOD_BY_WORD = {
    plain_word(word): method for method in METHODS.values() for word in (method.label, method.key)
}
METHOD_NAMES = ", ".join(f"{method.key} ({method.label})" for method in METHODS.values())


CHECKED_RECORDS = 100
SHOWN_ROWS = 8


@dataclass(frozen=True)
class JudgmentPreview:
    """The expected result of a file's first records, and the first of them as parsed."""

    report: JudgmentReport
    first: Sequence[ResolvedJudgment]


def check_judgments(
    *,
    project: Project,
    source: Source[JudgmentMapping],
    on_progress: OnProgress | None = None,
    only_good: bool = False,
) -> JudgmentReport:
    """Return the report of an import (only_good: of its valid lines) without writing or locking."""
    return read_judgments(project, source, on_progress or silent, only_good=only_good).report()


def read_judgments(
    project: Project,
    source: Source[JudgmentMapping],
    on_progress: OnProgress,
    *,
    only_good: bool,
    readings: Readings | None = None,
) -> "JudgmentReading":
    """Return a reading of the file that only checks; only_good: skips invalid lines."""
    kept: Readings = {} if readings is None else readings

    def read(skip: frozenset[int]) -> JudgmentReading:
        check = JudgmentCheck(project, Catalogue(project), current_guideline(project), kept)
        return JudgmentReading(source, check, skip)

    return check_whole_file(read, on_progress, only_good=only_good)


def preview_judgments(*, project: Project, source: Source[JudgmentMapping]) -> JudgmentPreview:
    """Return the expected result of the first records, with lookups limited to their names."""
    named = NamesInFile()
    for row in _first_rows(source):
        named.documents.add(row.document)
        for system in filter(None, (row.system, row.other)):
            named.systems.add(system)
            named.items.add((row.document, system))
    catalogue = Catalogue(project, named)
    reading = JudgmentReading(source, JudgmentCheck(project, catalogue, current_guideline(project), {}))
    reading.check(CHECKED_RECORDS, silent)
    return JudgmentPreview(reading.report(), reading.first)


class JudgmentReading(FileReading):
    """One reading of a file of judgments; `first` holds the results of the first records."""

    def __init__(
        self, source: Source[JudgmentMapping], check: JudgmentCheck, skip: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(source, skip=skip)
        self.checked = check
        self.first: list[ResolvedJudgment] = []

    def take(self, record: Record) -> Iterator[RefusedLine]:
        try:
            taken = self.checked.take(row_of(record, self.source.mapping))
        except RefusedFieldError as error:
            yield error.at(record.line)
            return
        if len(self.first) < SHOWN_ROWS:
            self.first.append(taken)

    def report(self) -> JudgmentReport:
        check = self.checked
        return JudgmentReport(
            made=check.made,
            already_there=check.already_there,
            unreadable_count=check.unreadable.count,
            unreadable=check.unreadable.listed,
            **self.facts(),
        )


def _first_rows(source: Source[JudgmentMapping]) -> Iterator[ImportedJudgment]:
    # The reading that follows reports an unreadable file; this first look only collects names.
    with suppress(UnreadableFileError), source.open() as file:
        for record in islice(file, CHECKED_RECORDS):
            with suppress(RefusedFieldError):
                if isinstance(record, Record):
                    yield row_of(record, source.mapping)
