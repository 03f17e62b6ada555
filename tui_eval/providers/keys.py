"""Keys: read from the environment when needed, and taken out of everything that is kept or shown.

Whatever resolves a key registers it here; `redact` then replaces it wherever text leaves the
process: failures, outputs, logs, tracebacks.

A key that is an ordinary word, such as the `lm-studio` that a local server asks for, is no secret:
anybody guesses it. In answers it stays as it is, because taking it out would change what is graded
and, as outputs are reused from the store, would do so in every later run. Where nothing is graded
(messages, logs, tracebacks) it is taken out like any other.
"""

import json
import os
import re
from collections.abc import Mapping
from urllib.parse import quote

from tui_eval.model.json import Json
from tui_eval.providers.errors import UnavailableError

NO_KEY = "none"
"""Sent to servers that need no key: the client library insists on one."""

_SHORTEST = 8
"""Characters below which a key is no secret but a word: replacing it would damage answers."""

_PLACEHOLDERS = frozenset(
    {"sk-no-key-required", "sk-no-key-needed", "sk-dummy", "sk-local", "sk-placeholder", "sk-test"}
)
"""What the documentation of local servers has people type, in the form of a real key."""
_LONGEST_WORDS = 20
"""Characters from which words together are a passphrase, which nobody guesses."""
_WORDS = re.compile(
    r"(?!(?:sk|pk|rk|hf|gsk|xai|pplx|nvapi|key|tok)[-_])"  # how providers' keys begin
    r"(?:[a-z]{1,12}(?:[-_./][a-z]{1,12})*"
    r"|[A-Z]{1,12}(?:[-_./][A-Z]{1,12})*"
    r"|[A-Z][a-z]{1,11}(?:[-_./][A-Z][a-z]{1,11})*)"
    r"[-_.]?[0-9]{0,4}"
)
"""What people type as a stand-in: `lm-studio`, `EMPTY`, `not-needed`, `test1234`."""

_stand_ins: dict[str, str] = {}
"""What must not be seen → what is written instead; the longest first."""


class MissingKeyError(UnavailableError):
    """A key is needed and is not there, or is not one that can be sent."""


def resolve(env_name: str, needed_by: str, environ: Mapping[str, str] | None = None) -> str:
    """Read a key from the environment and register it for redaction.

    Args:
        env_name: The variable, such as `OPENAI_API_KEY`.
        needed_by: Who needs it, for the message: `target 'gpt-5-mini' (api.openai.com)`.
        environ: Instead of the process's environment.

    Raises:
        MissingKeyError: naming the variable and how to set it.
    """
    value = (os.environ if environ is None else environ).get(env_name, "").strip()
    if not value:
        raise MissingKeyError(
            f"{env_name} is not set: {needed_by} needs a key. Set it in the shell that starts "
            f"tui-eval:  export {env_name}=…"
        )
    if not value.isascii() or not value.isprintable() or " " in value:
        raise MissingKeyError(
            f"{env_name} holds a character that no key can have (a space, a line break, a letter "
            f"outside ASCII): {needed_by} cannot send it. Set it again:  export {env_name}=…"
        )
    keep_secret(value, env_name)
    return value


def is_word(value: str) -> bool:
    """Return whether a key is an ordinary word, or a few: whoever wants it guesses it."""
    if len(value) < _SHORTEST or value in _PLACEHOLDERS:
        return True
    return len(value) < _LONGEST_WORDS and _WORDS.fullmatch(value) is not None


def word_note(env_name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return a warning about a key that is an ordinary word; None: it is none, or is not set."""
    value = (os.environ if environ is None else environ).get(env_name, "").strip()
    if not value or not is_word(value):
        return None
    return (
        f"{env_name} holds an ordinary word: it is not taken out of answers, as that would change "
        "what is graded. If it is a real key, have a random one made"
    )


def keep_secret(value: str, name: str) -> None:
    """Register a secret; from now on `redact` writes its name in its place."""
    if len(value) < _SHORTEST:
        return
    for form in (value, quote(value, safe=""), json.dumps(value)[1:-1]):
        _stand_ins[form] = f"[{name}]"
    longest_first = sorted(_stand_ins.items(), key=lambda pair: -len(pair[0]))
    _stand_ins.clear()
    _stand_ins.update(longest_first)


def redact(text: str) -> str:
    """Return the text with every registered secret replaced by the name of its variable."""
    return _replaced(text, _stand_ins)


def redact_answer(text: str) -> str:
    """Return text that is to be graded without secrets; ordinary words in it stay."""
    return _replaced(text, _in_answers())


def redact_json(value: Json) -> Json:
    """Return an answer with every string in it as `redact_answer` has it, names of fields too."""
    stand_ins = _in_answers()
    return _redacted(value, stand_ins) if stand_ins else value


def _in_answers() -> dict[str, str]:
    return {secret: name for secret, name in _stand_ins.items() if not is_word(secret)}


def _replaced(text: str, stand_ins: Mapping[str, str]) -> str:
    for secret, stand_in in stand_ins.items():
        if secret in text:
            text = text.replace(secret, stand_in)
    return text


def _redacted(value: Json, stand_ins: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return _replaced(value, stand_ins)
    if isinstance(value, list):
        return [_redacted(item, stand_ins) for item in value]
    if isinstance(value, dict):
        return {
            _replaced(name, stand_ins): _redacted(item, stand_ins) for name, item in value.items()
        }
    return value
