"""Providers of a promptfoo configuration, as targets and judges."""

import re
from typing import Final
from urllib.parse import urlsplit

from tui_eval.model.json import Json, JsonObject
from tui_eval.providers.presets import PRESETS
from tui_eval.suites.importers.models import preset_of
from tui_eval.suites.importers.reading import (
    Document,
    ReferencedFiles,
    first_mistake,
    read_document,
)
from tui_eval.suites.importers.shape import ImportNotes, unique
from tui_eval.suites.loading.errors import SuiteError

_PARAMS: Final = frozenset((
    "temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "frequency_penalty",
    "presence_penalty", "stop", "seed", "response_format", "reasoning_effort", "reasoning",
    "verbosity", "logprobs", "top_logprobs", "parallel_tool_calls", "tool_choice", "service_tier",
    "max_output_tokens",
))  # fmt: skip
_SECRET: Final = ("apikey", "token", "secret", "password", "authorization", "credential")
_USER: Final = re.compile(r"//[^/@]*@")
_NOT_CHAT: Final = frozenset((
    "completion", "embedding", "embeddings", "assistant", "realtime", "moderation", "image",
    "audio", "transcription", "video", "speech", "agents", "codex", "codex-sdk",
))  # fmt: skip
_ASKED_AS: Final = frozenset(("chat", "messages", "responses"))


class Providers:
    """Turns providers into targets and judges; what cannot be imported is noted."""

    def __init__(self, nearby: ReferencedFiles, losses: ImportNotes) -> None:
        self._nearby = nearby
        self._losses = losses

    def targets(
        self, document: Document, given: Json, field: str, prompts: list[str]
    ) -> list[JsonObject]:
        """Return the targets of a configuration.

        Args:
            document: The configuration.
            given: What it has of them.
            field: Under which name: `providers` or `targets`.
            prompts: Names of the prompts there are.
        """
        found: list[JsonObject] = []
        entries = given if isinstance(given, list) else [given]
        for n, entry in enumerate(entries):
            where = document.place(field, n)
            for provider in self._written_out(entry, where):
                target = self._target(provider, where, prompts)
                if target is not None:
                    names = [str(one["name"]) for one in found]
                    found.append({"name": unique(str(target.pop("name")), names, "target"),
                                  **target})  # fmt: skip
        return found

    def _written_out(self, entry: Json, where: str) -> list[JsonObject]:
        """Return providers in their one form: tables with an `id`."""
        if isinstance(entry, str) and entry.startswith("file://"):
            name = entry.removeprefix("file://")
            if not name.lower().endswith((".yaml", ".yml", ".json")):
                self._losses.note("a provider that is a program was left out: no code is run",
                                  where)  # fmt: skip
                return []
            try:
                value = read_document(self._nearby.find(name)).value
            except (ValueError, SuiteError) as error:
                said = first_mistake(error) if isinstance(error, SuiteError) else str(error)
                self._losses.note(f"{said}: the provider was left out", where)
                return []
            entries = value if isinstance(value, list) else [value]
            return [one for one in entries if isinstance(one, dict)]
        if isinstance(entry, str):
            return [{"id": entry}]
        if isinstance(entry, dict) and "id" not in entry and len(entry) == 1:
            ((name, options),) = entry.items()
            return [{"id": name, **options}] if isinstance(options, dict) else []
        return [entry] if isinstance(entry, dict) else []

    def _target(self, provider: JsonObject, where: str, prompts: list[str]) -> JsonObject | None:
        asked = self.connected(provider, where)
        if asked is None:
            return None
        target = {"name": str(provider.get("label") or asked["model"]), **asked}
        wanted = provider.get("prompts")
        if isinstance(wanted, list) and prompts:
            chosen = [name for name in prompts if any(_stands_for(one, name) for one in wanted)]
            if not chosen:
                self._losses.note("names no prompt that was carried over: it runs all", where)
            elif len(chosen) < len(prompts):
                target["prompts"] = list[Json](chosen)
        for name in ("delay", "transform", "env", "inputs"):
            if provider.get(name):
                self._losses.note(f"{name} of a provider is not carried over", where)
        return target

    def connected(self, provider: JsonObject | str, where: str) -> JsonObject | None:
        """Return the connection fields of a provider; None: there are none, which is noted."""
        if isinstance(provider, str):
            provider = {"id": provider}
        told = str(provider.get("id") or "")
        kind, _, rest = told.partition(":")
        api, colon, model = rest.partition(":")
        if api in _NOT_CHAT:
            self._left_out(told, where)
            return None
        if not (colon and (api in _ASKED_AS or api == "completion")):
            api, model = "chat", rest
        config = provider.get("config")
        config = dict(config) if isinstance(config, dict) else {}
        base = self._base_url(config, where)
        preset = preset_of(kind)
        if not model or preset is None:
            self._left_out(told, where)
            return None
        found: JsonObject = {"model": model}
        if base is not None:
            found["base_url"] = base
        if base is None or preset == "azure":
            found["provider"] = preset
        if PRESETS[preset].base_url is None and base is None:
            self._left_out(told, where, ": it has no address")
            return None
        if api == "responses":
            found["api"] = "responses"
        self._configure(found, config, where)
        return found

    def _left_out(self, told: str, where: str, why: str = "") -> None:
        shown = _USER.sub("//…@", told.split("?")[0])[:60]
        self._losses.note(
            f"provider {shown} cannot be asked from here{why}: it was left out", where
        )

    def _base_url(self, config: JsonObject, where: str) -> str | None:
        url = config.pop("apiBaseUrl", None)
        host = config.pop("apiHost", None)
        if not isinstance(url, str) and isinstance(host, str):
            azure = host.endswith((".azure.com", ".azure.com/"))
            url = f"https://{host.rstrip('/')}{'/openai' if azure else ''}/v1"
        if not isinstance(url, str):
            return None
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if "{{" in url or parts.scheme not in ("http", "https") or "@" in parts.netloc:
            self._losses.note("its address is none that can be carried over (a template, or a name "
                              "and password in it): the preset's is asked", where)  # fmt: skip
            return None
        if parts.query or parts.fragment:
            self._losses.note("what stands behind ? in its address is not carried over", where)
        return url.split("?")[0].split("#")[0]

    def _configure(self, found: JsonObject, config: JsonObject, where: str) -> None:
        key = config.pop("apiKeyEnvar", None)
        if isinstance(key, str) and "base_url" in found and key.isidentifier():
            found["api_key_env"] = key
        tools = config.pop("tools", None)
        if isinstance(tools, list) and all(isinstance(one, dict) for one in tools):
            found["tools"] = tools
        elif tools is not None:
            self._losses.note("tools that stand in a file are not carried over", where)
        extra = config.pop("passthrough", None)
        params: JsonObject = dict(extra) if isinstance(extra, dict) else {}
        for name, value in config.items():
            if _may_be_a_key(name, value):
                self._losses.note(
                    f"a key may stand in {name}: it is not copied; keys are read from the "
                    "environment",
                    where,
                )
            elif name in _PARAMS and not _unportable(value):
                params[name] = value
            else:
                self._losses.note(f"config.{name} is not carried over", where)
        unfit = [
            name
            for name, value in params.items()
            if _unportable(value) or _may_be_a_key(name, value)
        ]
        for name in unfit:
            del params[name]
            self._losses.note(f"config.passthrough.{name} is not carried over", where)
        for name in ("model", "messages", "input", "tools", "stream", "n"):
            params.pop(name, None)
        if params:
            found["params"] = params


def _may_be_a_key(name: str, value: Json = None) -> bool:
    """Return whether a setting, or one within it, is named like a key or looks like one."""
    plain = name.lower().replace("_", "").replace("-", "")
    secret = any(word in plain for word in _SECRET) and not plain.endswith("tokens")
    if secret and name not in _PARAMS:
        return True
    if isinstance(value, dict):
        return any(_may_be_a_key(inner, one) for inner, one in value.items())
    return isinstance(value, str) and value.startswith(("sk-", "Bearer "))


def _unportable(value: Json) -> bool:
    """Return whether a parameter is a template, names a file, or holds a null, which TOML lacks."""
    if value is None:
        return True
    if isinstance(value, str):
        return "{{" in value or value.startswith("file://")
    if isinstance(value, list):
        return any(map(_unportable, value))
    return isinstance(value, dict) and any(map(_unportable, value.values()))


def _stands_for(wanted: Json, name: str) -> bool:
    if not isinstance(wanted, str):
        return False
    return wanted == name or name.startswith(f"{wanted.removesuffix('*').removesuffix(':')}:")
