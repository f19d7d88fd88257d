"""A data set's folder as a repository of the Hugging Face Hub, or of the server in HF_ENDPOINT.

The token is in HF_TOKEN, read at use, for the projects that the operator lists. huggingface_hub is loaded
with the first push, so that other processes do not pay for it.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path

from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.debug import sensitive_variables

from annotate.core.errors import DomainError, InvalidValueError
from annotate.core.outbound import VariableRefusedError, read_variable
from annotate.exports.manifest import files_in

OnProgress = Callable[[int, int], None]
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,94}/[A-Za-z0-9][\w.-]{0,94}", re.ASCII)
USUAL_ENDPOINT = "https://huggingface.co"
DATA = "data/"
SENTENCES = {
    401: gettext_lazy("The Hub does not know the token in HF_TOKEN: make another one with write access."),
    403: gettext_lazy("The token in HF_TOKEN may not write to {repository}: give it write access there."),
    404: gettext_lazy("The Hub has no {repository} that the token in HF_TOKEN may see."),
}


class HubError(DomainError):
    code = "hub_failed"
    status = 502


def hub_is_configured(project: str) -> bool:
    """Return True if this process has a token of the Hub, and a project (its slug) may use it."""
    try:
        return bool(_token(project))
    except HubError:
        return False


def refuse_repository(name: str) -> None:
    if not NAME.fullmatch(name) or "--" in name or ".." in name:
        says = gettext(
            "A repository is called like name/data-set, with letters, digits, -, _ and single dots."
        )
        raise InvalidValueError(says, fields={"repository": says})


def push_folder(
    folder: Path, repository: str, *, project: str, private: bool, on_progress: OnProgress | None = None
) -> str:
    """Make the repository equal to the folder, in one commit, and return the commit's URL.

    project: the slug of the project with the data set. private: for a new repository; an existing one is
    unchanged. Shards of an earlier push that the folder lacks are deleted. The same bytes make no new commit.
    on_progress: gets the number of transferred bytes after each file; an exception in it stops the push.
    Raises InvalidValueError, HubError.
    """
    refuse_repository(repository)
    token = _token(project)
    from httpx2 import HTTPError

    try:
        return _push(folder, repository, token, private, on_progress or (lambda _sent, _size: None))
    except DomainError:
        raise
    except (HTTPError, OSError, RuntimeError, ValueError) as error:
        # Without its cause, which may hold the request and with it the token.
        raise HubError(_sentence(error, repository)) from None


@sensitive_variables("token")
def _push(folder: Path, repository: str, token: str, private: bool, on_progress: OnProgress) -> str:
    # Large files go by Git LFS, which every Hub speaks; for one that does not speak Xet it waits without end.
    os.environ.setdefault("HF_HUB_DISABLE_XET", "1")
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()
    hub = HfApi(endpoint=_endpoint(), token=token, library_name="concord")
    hub.create_repo(repository, repo_type="dataset", private=private, exist_ok=True)
    paths = {str(path.relative_to(folder)): path for path in files_in(folder)}
    files = [CommitOperationAdd(path_in_repo=name, path_or_fileobj=path) for name, path in paths.items()]
    size, sent = sum(path.stat().st_size for path in paths.values()), 0
    on_progress(sent, size)
    for file in files:  # large ones go ahead of the commit, one after the other
        hub.preupload_lfs_files(repository, [file], repo_type="dataset", num_threads=1, free_memory=False)
        sent += paths[file.path_in_repo].stat().st_size
        on_progress(sent, size)
    there = hub.list_repo_files(repository, repo_type="dataset")
    old = [name for name in there if name.startswith(DATA) and name not in paths]
    commit = hub.create_commit(
        repository,
        [*files, *(CommitOperationDelete(path_in_repo=name) for name in old)],
        commit_message="Export of Concord",
        repo_type="dataset",
    )
    return str(commit.commit_url)


def _sentence(error: BaseException, repository: str) -> str:
    from httpx2 import TransportError

    # The cause of an error during the transfer of a file.
    if isinstance(error, RuntimeError) and error.__cause__:
        error = error.__cause__
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status in SENTENCES:
        return SENTENCES[status].format(repository=repository)
    if status:
        return gettext("The Hub answered {status}; try again later.").format(status=status)
    if isinstance(error, TransportError):
        says = gettext("The Hub at {url} cannot be reached ({error}); try again later.")
        return says.format(url=_endpoint(), error=type(error).__name__)
    return gettext("The Hub did not take the data set ({error}).").format(error=type(error).__name__)


def _endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "").rstrip("/") or USUAL_ENDPOINT


@sensitive_variables()
def _token(project: str) -> str:
    try:
        return read_variable("HF_TOKEN", url=_endpoint(), project=project)
    except VariableRefusedError as error:
        raise HubError(error.message) from None
