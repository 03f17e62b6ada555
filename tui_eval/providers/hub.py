"""The datasets of the Hugging Face Hub; it needs `huggingface_hub`, which the extra `hf` installs.

Which Hub is asked says the person's own environment (`HF_ENDPOINT`), never a suite. Files are kept
in the cache that all programs with that library share (`HF_HOME`), so that none is fetched twice.
"""

import logging
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

from tui_eval.model.json import Json
from tui_eval.providers import keys, presets

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TOKEN: Final = "HF_TOKEN"  # noqa: S105 - the name of the variable
HOSTS: Final = frozenset(("huggingface.co", "hf.co"))
"""The hosts the token is for, beside those of the user's configuration."""

_ENDPOINT: Final = "https://huggingface.co"
_TIMEOUT_S: Final = 20.0
_PAUSES_S: Final = (0.5, 2.0)
"""Before a question is asked again that nobody answered, or that was answered with a 5xx."""
_SERVER_ERROR: Final = 500
_NO_TOKEN: Final = 401

_Answer = TypeVar("_Answer")


class _NoBar:
    """Takes the place of a progress bar: the screen is somebody else's."""

    def __init__(self, *_: object, **__: object) -> None:
        """Take what a bar would be made of."""

    def __enter__(self) -> "_NoBar":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, n: float | None = 1) -> None:
        """Draw nothing."""


class HubError(Exception):
    """What was asked of the Hub cannot be had; the message goes on after the dataset's name."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(keys.redact(message))
        self.hint = hint


@dataclass(frozen=True, slots=True)
class HubRepo:
    """A dataset's repository at one commit."""

    commit: str
    files: tuple[str, ...]
    card: Json
    """The metadata of its README; None: it has none."""


def endpoint() -> str:
    """Return the address of the Hub that is asked, without a closing slash.

    Raises:
        HubError: `HF_ENDPOINT` is no address.
    """
    given = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or _ENDPOINT
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise HubError("HF_ENDPOINT is no address of a Hub", f"such as {_ENDPOINT}; or unset it")
    return given


def has_token() -> bool:
    """Return whether there is a token, with which the Hub is asked as that person."""
    return bool(os.environ.get(TOKEN, "").strip())


def look_up(repo: str, revision: str) -> HubRepo:
    """Return what a dataset's repository holds at a revision, its commit resolved.

    Args:
        repo: OWNER/NAME.
        revision: A branch, a tag or a commit.

    Raises:
        HubError: the Hub cannot be reached, or has no such thing for this person.
    """
    found = _asked(repo, lambda api: api.dataset_info(repo, revision=revision, timeout=_TIMEOUT_S))
    card = None if found.card_data is None else found.card_data.to_dict()  # type: ignore[no-untyped-call]  # theirs
    files = tuple(sorted(one.rfilename for one in found.siblings or ()))
    if not found.sha:
        raise HubError("cannot be read: the Hub does not say at which commit it is")
    return HubRepo(found.sha, files, card)


def fetched(repo: str, commit: str, file: str) -> Path:
    """Return where a file of a dataset is on this machine; it is fetched where it is not there.

    Raises:
        HubError: the Hub cannot be reached, or its file is not whole.
        OSError: it cannot be written down here.
    """
    return Path(
        _asked(
            repo,
            lambda api: str(
                api.hf_hub_download(
                    repo,
                    file,
                    repo_type="dataset",
                    revision=commit,
                    etag_timeout=_TIMEOUT_S,
                    tqdm_class=_NoBar,
                )
            ),
        )
    )


def _asked(repo: str, question: "Callable[[HfApi], _Answer]") -> _Answer:
    """Ask the Hub, again where it did not answer."""
    import httpx2

    try:
        from huggingface_hub import HfApi
    except ImportError:
        message = "is on the Hub, which needs huggingface_hub and pyarrow"
        raise HubError(message, "pip install 'tui-eval[hf]'") from None
    at = endpoint()
    # False: without one, the library would look for a token of its own
    try:
        key = keys.resolve(TOKEN, f"hf://{repo}") if has_token() else False
    except keys.MissingKeyError as error:
        raise HubError(f"cannot be read: {error}") from None
    api = HfApi(endpoint=at, token=key)
    pauses = [*_PAUSES_S]
    while True:
        try:
            with _silent():
                return question(api)
        except (httpx2.HTTPError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # this machine's
            status = _status(error)
            if not pauses or (status is not None and status < _SERVER_ERROR) or _is_offline():
                raise _refusal(repo, at, error, status) from None
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            message = f"cannot be read: {at} answers with what is no dataset ({_short(error)})"
            raise HubError(message) from None
        time.sleep(pauses.pop(0))


def _is_offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.is_offline_mode())


def _status(error: BaseException) -> int | None:
    """Return the HTTP status that an error comes of; None: nothing was answered."""
    for one in (error, error.__cause__):
        status = getattr(getattr(one, "response", None), "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _refusal(repo: str, at: str, error: Exception, status: int | None) -> HubError:
    """Return what a person is told of a failure."""
    host = presets.host_of(at)
    kinds = {type(one).__name__ for one in (error, error.__cause__)}
    if _is_offline():
        return HubError("is not on this machine, and HF_HUB_OFFLINE is set", "unset it")
    if "GatedRepoError" in kinds:
        hint = f"ask for access at {at}/datasets/{repo}, then set {TOKEN}"
        return HubError(f"may not be read: {host} gives it to those it allowed", hint)
    if status is not None and status >= _SERVER_ERROR:
        return HubError(f"cannot be read: {host} fails with HTTP {status}", "try again later")
    if status == _NO_TOKEN and has_token():
        return HubError(f"may not be read: {host} does not take {TOKEN}", "make a new one")
    if "RevisionNotFoundError" in kinds:
        return HubError(f"has no such revision at {host}")
    if "RemoteEntryNotFoundError" in kinds:
        return HubError(f"has no such file at {host}")
    if "RepositoryNotFoundError" in kinds or status == _NO_TOKEN:
        private = None if has_token() else f"if it is private, set {TOKEN}"
        return HubError(f"is no dataset at {host}, or one that you may not read", private)
    if status is not None:
        return HubError(f"cannot be read: {host} answers with HTTP {status}")
    if "Consistency check" in str(error):
        return HubError(f"is cut off: {host} sent less of a file, or more, than it has")
    return HubError(f"cannot be reached: {host} ({_short(error.__cause__ or error)})",
                    "look at the network, HF_ENDPOINT and the proxy")  # fmt: skip


def _short(error: BaseException) -> str:
    words = str(error).strip().split("\n")[0][:120]
    return words or type(error).__name__


@contextmanager
def _silent() -> Iterator[None]:
    """Keep the library from the terminal, and from telling the Hub what else is on this machine."""
    from huggingface_hub import constants

    log = logging.getLogger("huggingface_hub")
    level, telling = log.level, constants.HF_HUB_DISABLE_TELEMETRY
    log.setLevel(logging.CRITICAL)
    constants.HF_HUB_DISABLE_TELEMETRY = True
    try:
        yield
    finally:
        log.setLevel(level)
        constants.HF_HUB_DISABLE_TELEMETRY = telling
