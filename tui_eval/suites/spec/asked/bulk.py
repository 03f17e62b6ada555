"""How a target, or a judge, is asked through its provider's batch API."""

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Final, Literal, TypeAlias, get_args

from tui_eval.providers.presets import PRESETS
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.spec.table import Spec, Text, Whole

BulkDialect: TypeAlias = Literal["openai", "anthropic", "files"]
_DIALECTS: Final = get_args(BulkDialect)


class BulkSpec(Spec):
    """What goes to a provider's batch API at once, and how."""

    api: BulkDialect | None = None
    """How it is spoken to. Default: as the preset is; `openai` for a `base_url`."""
    size: Whole = 10_000
    """Requests sent as one, at most; no more than the provider takes."""
    megabytes: Whole = 90
    """Millions of bytes sent as one, at most; likewise."""
    folder: Text = "bulk"
    """For `files`: where requests are written and results are looked for, in the suite's folder."""


def bulk_dialect(
    provider: str | None, base_url: str | None, api: BulkDialect | None = None
) -> BulkDialect | None:
    """Return how a batch API is spoken to; None: there is none that is known.

    Args:
        provider: The preset's name, if one is named.
        base_url: Where calls go, if that is named.
        api: What the suite says.
    """
    if api is not None:
        return api
    if provider is None:
        return None if base_url is None else "openai"
    preset = PRESETS.get(provider)
    return None if preset is None else preset.bulk


def bulk_mistakes(table: Mapping[str, object]) -> Iterator[FieldMistake]:
    """Yield what is wrong with `bulk` of a target or judge that asks a model.

    Args:
        table: Its fields as they were written.
    """
    wanted = table.get("bulk")
    if not wanted:
        return
    api = wanted.get("api") if isinstance(wanted, Mapping) else None
    if api is not None and api not in _DIALECTS:
        return  # told for the field itself
    folder = wanted.get("folder") if isinstance(wanted, Mapping) else None
    if isinstance(folder, str):
        if api != "files":
            yield FieldMistake(("bulk", "folder"), 'says nothing unless api = "files"', "drop it")
        elif PurePath(folder).is_absolute() or ".." in PurePath(folder).parts:
            hint = "give a folder inside it"
            yield FieldMistake(("bulk", "folder"), "lies outside the suite's folder", hint)
    provider = table.get("provider")
    if isinstance(provider, str) and provider in PRESETS:
        preset = PRESETS[provider]
        if preset.embedded:
            message = "needs a provider with a batch API, and this model runs beside the engine"
            yield FieldMistake(("bulk",), message, "drop it")
            return
        if api is None and preset.bulk is None:
            message = f"needs a batch API, and none is known of {provider}"
            hint = 'if it has /v1/files and /v1/batches, say bulk = { api = "openai" }'
            yield FieldMistake(("bulk",), message, hint)
    named = provider if isinstance(provider, str) else None
    if table.get("api") == "responses" and bulk_dialect(named, None, api) == "anthropic":
        message = "speaks to Anthropic's batch API, and api is responses"
        yield FieldMistake(("bulk",), message, "drop api, or bulk")
    if table.get("tools_by") is not None or _answers_tools(table.get("tools")):
        message = "asks once, and its tools are answered, so that it is asked again"
        yield FieldMistake(("bulk",), message, "drop bulk, or what answers the tools")


def _answers_tools(tools: object) -> bool:
    listed = tools if isinstance(tools, list | tuple) else ()
    return any(isinstance(one, Mapping) and one.get("answers") for one in listed)
