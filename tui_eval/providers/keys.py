"""Keys: read from the environment when needed, and taken out of everything that is kept or shown.

Whatever resolves a key registers it here; `redact` then replaces it wherever text leaves the
process: failures, outputs, logs, tracebacks.
"""

import json
import os
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from tui_eval.model.json import Json, JsonObject
from tui_eval.providers.errors import UnavailableError

NO_KEY = "none"
"""Sent to servers that need no key: the client library insists on one."""

_SHORTEST = 8
"""Characters below which a key is no secret but a word: replacing it would damage answers."""

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


def require(needs: Mapping[str, Sequence[str]], environ: Mapping[str, str] | None = None) -> None:
    """Resolve every key that a run needs, before anything of it starts.

    Args:
        needs: For each variable, who needs it.
        environ: Instead of the process's environment.

    Raises:
        MissingKeyError: one message with a line for each key that is not there.
    """
    problems = []
    for env_name, needed_by in needs.items():
        try:
            resolve(env_name, ", ".join(needed_by), environ)
        except MissingKeyError as problem:
            problems.append(str(problem))
    if problems:
        raise MissingKeyError("\n".join(problems))


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
    """Give the text with every registered secret replaced by the name of its variable."""
    for secret, stand_in in _stand_ins.items():
        if secret in text:
            text = text.replace(secret, stand_in)
    return text


def redact_json(value: Json) -> Json:
    """Give the value with every string in it redacted, the names of fields too."""
    if not _stand_ins:
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [redact_json(item) for item in value]
    if isinstance(value, dict):
        return redact_object(value)
    return value


def redact_object(value: JsonObject) -> JsonObject:
    """Give the object with every string in it redacted, the names of fields too."""
    return {redact(name): redact_json(item) for name, item in value.items()}
