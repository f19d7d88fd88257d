"""Several uploaded files packed as one folder, which is read as one import."""

import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import PurePath
from typing import IO, Any

from django.core.files import File
from django.core.files.uploadedfile import UploadedFile

README = "---\nconfigs:\n- config_name: default\n  data_files: '*'\n---\n"
"""Says that every file is data, whatever its name."""


class NotTogetherError(Exception):
    """Files that cannot be one import; the message says why."""


def pack_files(files: Sequence["UploadedFile[Any]"]) -> "File[Any]":
    """Return a zip of files of one kind, in the order of their names. Raises NotTogetherError."""
    names = [PurePath(file.name or "").name for file in files]
    kinds = {PurePath(name.lower().removesuffix(".gz")).suffix for name in names}
    if len(kinds) > 1:
        raise NotTogetherError(f"Upload files of one kind together; these are {', '.join(sorted(kinds))}.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise NotTogetherError(f"Two files are called “{twice}”; pack them with their folders as a zip file.")
    if kinds == {".zip"}:
        raise NotTogetherError("Upload one zip file at a time.")
    packed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the request
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("README.md", README)
        for name, file in sorted(zip(names, files, strict=True), key=lambda each: each[0]):
            with archive.open(name, "w") as target:
                for chunk in file.chunks():
                    target.write(chunk)
    packed.seek(0)
    return File(packed, name=f"{len(files)} files.zip")
