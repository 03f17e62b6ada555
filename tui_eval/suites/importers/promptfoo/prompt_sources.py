"""Prompts of a promptfoo configuration."""

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.chat import as_messages
from tui_eval.suites.importers.promptfoo.texts import Texts
from tui_eval.suites.importers.reading import (
    Document,
    ReferencedFiles,
    first_mistake,
    parse_json,
    read_document,
    read_text,
)
from tui_eval.suites.importers.shape import ImportNotes, unique
from tui_eval.suites.loading.errors import SuiteError

_CODE: Final = (".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".py", ".rb", ".sh", ".bash", ".pl")
_TEXT: Final = (".txt", ".md", ".j2", ".jinja", ".jinja2", ".json", ".yaml", ".yml", ".csv")
_SO_FAR: Final = "_conversation"
"""What a prompt reads where tests are turns of one conversation."""
_TAG: Final = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)
_SEPARATOR: Final = "---"


@dataclass(frozen=True, slots=True)
class PromptSource:
    """One prompt and where it was written."""

    text: str
    label: str
    """Empty: it has none."""
    where: str


def prompts_of(
    document: Document, given: Json, nearby: ReferencedFiles, texts: Texts, losses: ImportNotes
) -> list[JsonObject]:
    """Return the prompts, each with a name; those that cannot be imported are noted.

    Args:
        document: The configuration.
        given: Its `prompts`.
        nearby: Reads files that are named.
        texts: Translates templates.
        losses: Where what is missing is noted.
    """
    entries: list[tuple[Json, str, str]] = []
    if isinstance(given, dict):  # file or text: its label
        entries = [
            (key, str(label), document.place("prompts", key)) for key, label in given.items()
        ]
    else:
        for n, one in enumerate(given if isinstance(given, list) else [given]):
            entries.append((one, "", document.place("prompts", n)))
    found: list[JsonObject] = []
    for entry, label, where in entries:
        for source in _sources(entry, label, where, nearby, losses):
            prompt = _prompt(source, texts, losses)
            if prompt is not None:
                names = [str(one["name"]) for one in found]
                label = source.label or f"prompt-{len(found) + 1}"
                found.append({"name": unique(label, names, "prompt"), **prompt})
    return found


def _sources(
    entry: Json, label: str, where: str, nearby: ReferencedFiles, losses: ImportNotes
) -> list[PromptSource]:
    if isinstance(entry, dict):
        label = str(entry.get("label") or entry.get("display") or label)
        if entry.get("config"):
            losses.note("config of a prompt is not carried over", where)
        made = entry.get("function") is not None
        entry = None if made else entry.get("raw") or entry.get("id")
    if not isinstance(entry, str) or not entry.strip():
        losses.note("is no prompt that is text: it was left out", where)
        return []
    name = entry.removeprefix("file://")
    ending = Path(name.split(":")[0]).suffix.lower()
    one_line = "\n" not in entry and len(entry) < 500 and "{{" not in entry
    if entry.startswith("exec:") or (one_line and ending in _CODE):
        losses.note("a prompt made by a program is not carried over: no code is run", where)
        return []
    if entry.startswith("file://") or (one_line and ending in _TEXT and " " not in entry):
        return _from_files(name, label, where, nearby, losses)
    if one_line and "://" in entry.split(" ")[0]:
        losses.note("a prompt that lies at a service is not carried over", where)
        return []
    return [PromptSource(entry, label, where)]


def shortened(text: str) -> str:
    """Return a name for a prompt that has none: its beginning, without the marks of templates."""
    words = " ".join(_TAG.sub(r"\1", text).split())
    return words if len(words) <= 30 else f"{words[:29]}…"


def _from_files(
    name: str, label: str, where: str, nearby: ReferencedFiles, losses: ImportNotes
) -> list[PromptSource]:
    try:
        paths = nearby.all(name)
    except ValueError as error:
        losses.note(f"{error}: the prompt was left out", where)
        return []
    found: list[PromptSource] = []
    for path in paths:
        try:
            found += _from_file(path, label, losses)
        except SuiteError as error:
            losses.note(f"{first_mistake(error)}: the prompt was left out", where)
    return found


def _from_file(path: Path, label: str, losses: ImportNotes) -> list[PromptSource]:
    ending = path.suffix.lower()
    if ending in _CODE:
        losses.note("a prompt made by a program is not carried over: no code is run", path.name)
        return []
    if ending in (".yaml", ".yml"):
        text = json.dumps(read_document(path).value, ensure_ascii=False)
        return [PromptSource(text, label or path.stem, path.name)]
    text = read_text(path)
    if ending == ".csv":
        rows = csv.DictReader(io.StringIO(text))
        return [
            PromptSource(row["prompt"], row.get("label") or f"{label or path.stem} {n}", path.name)
            for n, row in enumerate(rows, 1)
            if row.get("prompt")
        ]
    parts = [text] if ending == ".json" else _split(text)
    name = label or path.stem
    names = [name] if len(parts) == 1 else [f"{name} {n}" for n in range(1, len(parts) + 1)]
    return [PromptSource(part, one, path.name) for part, one in zip(parts, names, strict=True)]


def _split(text: str) -> list[str]:
    """Split a file with several prompts at lines of `---` alone."""
    parts: list[list[str]] = [[]]
    for line in text.splitlines():
        if line.strip() == _SEPARATOR:
            parts.append([])
        else:
            parts[-1].append(line)
    return [part for lines in parts if (part := "\n".join(lines).strip())] or [""]


def _prompt(source: PromptSource, texts: Texts, losses: ImportNotes) -> JsonObject | None:
    stripped = source.text.strip()
    if _SO_FAR in stripped:
        losses.note("a conversation that goes on from test to test (_conversation) is not carried "
                    "over: a case has `turns` here", source.where)  # fmt: skip
        return None
    if stripped.startswith("[") and '"role"' in stripped:
        try:
            messages = parse_json(stripped, source.where)
        except SuiteError:
            losses.note("looks like messages and is no JSON (a template within it?): it is sent "
                        "as one text", source.where)  # fmt: skip
        else:
            return _chat(messages, source.where, texts, losses)
    user = texts.template(source.text, source.where, "the prompt")
    return {"user": user} if user else None


def _chat(value: Json, where: str, texts: Texts, losses: ImportNotes) -> JsonObject | None:
    messages: list[Json] = []
    for one in as_messages(value, losses, where):
        said = {
            name: texts.nested(one[name], where, "the prompt")
            for name in ("content", "tool_calls")
            if one.get(name) is not None
        }
        if None in said.values():
            return None
        messages.append({**{name: one[name] for name in one if name != "content"}, **said})
    return {"messages": messages} if messages else None
