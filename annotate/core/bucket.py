"""Files in an S3-compatible bucket, with the errors that callers of files expect."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import File
from storages.backends.s3 import S3Storage

from annotate.core.files import StorageAwayError


@contextmanager
def _errors_of_files(name: str) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        # A missing bucket also answers 404. It is a wrong setting, and not a missing file.
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == 404 and _code_of(error) != "NoSuchBucket":
            raise FileNotFoundError(f"No file is kept as {name}.") from error
        raise StorageAwayError(f"The bucket refused {name}: {_code_of(error)}.") from error
    except BotoCoreError as error:
        raise StorageAwayError(f"The bucket did not answer ({type(error).__name__}).") from error


def _code_of(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", "unknown"))


def _raise_file_errors(act: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(act)
    def ask(self: "Bucket", name: str, *rest: Any, **named: Any) -> Any:
        with _errors_of_files(name):
            return act(self, name, *rest, **named)

    return ask


class Bucket(S3Storage):  # type: ignore[misc]
    """Raises FileNotFoundError for a missing file, StorageAwayError if the bucket is unreachable."""

    def __init__(self, **options: Any) -> None:
        # Only Amazon is certain to respond at a separate host name for each bucket. Pages block on requests
        # to this host.
        style = "auto" if options["endpoint_url"].endswith(".amazonaws.com") else "path"
        # boto3 waits 60 seconds for each of these by default, and a page waits with it.
        patience = {"connect_timeout": 5, "read_timeout": 30, "retries": {"max_attempts": 2}}
        super().__init__(client_config=Config(s3={"addressing_style": style}, **patience), **options)

    delete = _raise_file_errors(S3Storage.delete)
    exists = _raise_file_errors(S3Storage.exists)
    listdir = _raise_file_errors(S3Storage.listdir)
    size = _raise_file_errors(S3Storage.size)
    get_modified_time = _raise_file_errors(S3Storage.get_modified_time)
    _save = _raise_file_errors(S3Storage._save)

    def _open(self, name: str, mode: str = "rb") -> "File[Any]":
        with _errors_of_files(name):
            opened: File[Any] = super()._open(name, mode)
            opened.open()  # downloads it now, so that reading fails here or not at all
            return opened
