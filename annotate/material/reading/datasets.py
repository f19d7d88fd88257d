"""A Hugging Face data set's folder: its configurations and splits, and the shards of each one.

Their source is the YAML in its README (`configs`) or, without that, file and folder names:
https://huggingface.co/docs/hub/datasets-data-files-configuration. Nothing is downloaded.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import yaml

from annotate.core.translation import gettext
from annotate.material.reading.folders import Folder
from annotate.material.reading.rows import UnreadableFileError

SHARDS = (".parquet", ".arrow", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".xlsx")
NO_SHARDS = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}
SPLIT_WORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val", "dev"),
    "test": ("test", "testing", "eval", "evaluation"),
}
ONLY = "default"
FRONT_MATTER = re.compile(r"\A\ufeff?---\s*\n(.*?)\n---\s*(?:\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Split:
    config: str
    split: str
    shards: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.config}/{self.split}"


def splits_of(folder: Folder) -> list[Split]:
    """Return all splits of a data set that have shards. Raises UnreadableFileError if there is none."""
    configs = _configs(folder.text("README.md"))
    splits = [split for config in configs for split in _splits_of_config(config, folder)]
    if configs and not splits:
        raise UnreadableFileError(
            0,
            gettext(
                "The README's data files are not in this folder; add them, or remove “configs” from the "
                "README."
            ),
        )
    splits = splits or _splits_by_names(folder.names)
    if not splits:
        raise UnreadableFileError(
            0,
            gettext(
                "The folder holds no Parquet, JSONL, CSV, XLSX or Arrow file; choose the folder of a data "
                "set."
            ),
        )
    return splits


def splits_of_part(splits: Sequence[Split], part: str) -> list[Split]:
    """The splits that a part names: "config/split", or "config"; all of the first configuration without."""
    config, _, split = part.partition("/")
    wanted = config or splits[0].config
    found = [each for each in splits if each.config == wanted and split in ("", each.split)]
    if not found:
        names = ", ".join(each.name for each in splits)
        raise UnreadableFileError(
            0, gettext("The data set has no part “{part}”; it has {names}.").format(part=part, names=names)
        )
    return found


def _configs(readme: str) -> list[dict[str, Any]]:
    matter = FRONT_MATTER.match(readme)
    if matter is None:
        return []
    try:
        # The README comes from a user, and an unsafe loader can create any Python object.
        card = yaml.safe_load(matter[1])
    except yaml.YAMLError as error:
        said = str(error).partition("\n")[0]
        raise UnreadableFileError(
            0, gettext("The YAML at the head of README.md cannot be read ({error}).").format(error=said)
        ) from error
    configs = card.get("configs") if isinstance(card, dict) else None
    listed = [each for each in configs if isinstance(each, dict)] if isinstance(configs, list) else []
    # The default configuration first, which is read unless a part names another one.
    return sorted(listed, key=lambda config: not config.get("default"))


def _splits_of_config(config: dict[str, Any], folder: Folder) -> Iterator[Split]:
    name = str(config.get("config_name", ONLY))
    base = str(config.get("data_dir") or "").strip("/")
    inside = [each for each in folder.names if not base or each.startswith(f"{base}/")]
    files = config.get("data_files")
    if files is None:
        yield from (Split(name, each.split, each.shards) for each in _splits_by_names(inside))
        return
    for split, patterns in _patterns(files):
        matches = [re.compile(_regex(f"{base}/{each}" if base else each)) for each in patterns]
        shards = tuple(each for each in inside if _is_shard(each) and any(m.fullmatch(each) for m in matches))
        if shards:
            yield Split(name, split, shards)


def _patterns(files: Any) -> Iterator[tuple[str, list[str]]]:
    listed = files if isinstance(files, list) else [files]
    loose = [str(each) for each in listed if not isinstance(each, dict)]
    if loose:
        yield "train", loose
    for each in listed:
        if isinstance(each, dict) and "path" in each:
            paths = each["path"] if isinstance(each["path"], list) else [each["path"]]
            yield str(each.get("split", "train")), [str(path) for path in paths]


def _regex(pattern: str) -> str:
    """A pattern of paths, in which ** matches any folders, as a regular expression."""
    pattern = pattern.removeprefix("./").strip("/")
    tokens = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern)
    meant = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(
        meant.get(token) or (token if re.fullmatch(r"\[[\w!^-]+\]", token) else re.escape(token))
        for token in tokens
    )
    return f"{body}(?:/.*)?"  # a pattern that names a folder means all that is in it


def _splits_by_names(names: Sequence[str]) -> list[Split]:
    shards = [name for name in names if _is_shard(name)]
    kinds = Counter(_suffix(name) for name in shards)
    if not kinds:
        return []
    # The most frequent kind of file; of equally frequent ones, the first in SHARDS.
    kind = max(kinds, key=lambda suffix: (kinds[suffix], -SHARDS.index(suffix)))
    by_split: dict[str, list[str]] = {}
    for name in sorted(each for each in shards if _suffix(each) == kind):
        by_split.setdefault(_split_word(name), []).append(name)
    order = [*SPLIT_WORDS, ""]
    return [
        Split(ONLY, split or "train", tuple(by_split[split]))
        for split in sorted(by_split, key=order.index)
        if split or len(by_split) == 1  # With named splits, other files are no data.
    ]


def _split_word(name: str) -> str:
    path = PurePosixPath(name.lower())
    # The file's name counts before its folders, and inner folders before outer ones.
    for part in (path.name, *reversed(path.parts[:-1])):
        words = re.split(r"[^a-z]+", part)
        for split, known in SPLIT_WORDS.items():
            if any(word in known for word in words):
                return split
    return ""


def _suffix(name: str) -> str:
    return PurePosixPath(name.lower().removesuffix(".gz")).suffix


def _is_shard(name: str) -> bool:
    return _suffix(name) in SHARDS and PurePosixPath(name).name not in NO_SHARDS
