"""Read files of other tools as data: bounded in size and depth, and nothing in them is run."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.files import open_regular, real_path
from tui_eval.suites.loading.errors import Mistake, SuiteError, did_you_mean_file

if TYPE_CHECKING:
    import yaml

_MOST_JSON: Final = 256_000_000
"""Bytes of a JSON document, which is read whole."""
_MOST_TEXT: Final = 16_000_000
"""Bytes of a configuration, a prompt or another text."""
_DEEPEST: Final = 64
_MOST_NODES: Final = 1_000_000
"""Values of a YAML document with every alias written out."""
_STANDARD: Final = tuple(
    f"tag:yaml.org,2002:{kind}"
    for kind in ("str", "int", "float", "bool", "null", "timestamp", "binary", "merge", "value",
                 "seq", "map", "set", "omap", "pairs")
)  # fmt: skip
_LINES_DOWN_TO: Final = 4
"""Steps into a document for which lines are kept: `tests[0].assert[1]` has four."""


def refuse(file: str, message: str, *, line: int | None = None, field: str = "",
           hint: str | None = None) -> NoReturn:  # fmt: skip
    """Refuse to import a file.

    Raises:
        SuiteError: always.
    """
    raise SuiteError([Mistake(file, line, field, message, hint)])


def read_bytes(path: Path, most: int = _MOST_TEXT, hint: str | None = None) -> bytes:
    """Return a file's bytes.

    Args:
        path: The file.
        most: Bytes it may have.
        hint: What to do where it has more.

    Raises:
        SuiteError: it cannot be read, or is larger than `most` bytes.
    """
    try:
        with open_regular(path) as file:
            raw = file.read(most + 1)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        refuse(str(path), f"cannot be read: {reason}", hint=did_you_mean_file(path))
    if len(raw) > most:
        refuse(str(path), f"is larger than {most // 1_000_000} MB", hint=hint)
    return raw


def read_text(path: Path) -> str:
    """Return a file's text.

    Raises:
        SuiteError: it cannot be read, is too large or is no UTF-8.
    """
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse(str(path), "is not UTF-8 text")


def parse_json(raw: bytes | str, name: str) -> Json:
    """Return a JSON document; NaN and infinities become texts.

    Args:
        raw: The document.
        name: How messages name its file.

    Raises:
        SuiteError: it is none.
    """
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8-sig")
        value: Json = json.loads(text, parse_constant=str)
    except json.JSONDecodeError as error:
        refuse(name, f"is not JSON: {error.msg[:1].lower()}{error.msg[1:]}", line=error.lineno)
    except UnicodeDecodeError:
        refuse(name, "is not UTF-8 text")
    except RecursionError:
        refuse(name, "nests too deeply")
    except ValueError as error:  # a whole number of thousands of digits
        refuse(name, f"is not JSON: {error}")
    return value


def read_json(path: Path, hint: str | None = None) -> Json:
    """Read a JSON document.

    Args:
        path: The file.
        hint: What to do where it is too large.

    Raises:
        SuiteError: it cannot be read, is larger than 256 MB, or is none.
    """
    return parse_json(read_bytes(path, _MOST_JSON, hint), str(path))


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML or JSON document with the lines of its values."""

    name: str
    value: Json
    lines: dict[tuple[str | int, ...], int] = field(default_factory=dict)
    """Lines of values by their path, not all the way down; empty for JSON."""

    def place(self, *path: str | int) -> str:
        """Return where a value is: `line 4, tests[0].assert[1]`."""
        return placed(path, self.lines.get(path))


def placed(path: tuple[str | int, ...], line: int | None) -> str:
    """Return a path and, where known, its line."""
    said = ""
    for step in path:
        said += f"[{step}]" if isinstance(step, int) else f".{step}" if said else step
    return f"line {line}, {said}" if line is not None else said


@contextmanager
def not_too_deep(name: str) -> Iterator[None]:
    """Refuse a document that nests too deeply for the code after its reading.

    Raises:
        SuiteError: it does.
    """
    try:
        yield
    except RecursionError:
        refuse(name, "nests too deeply")


def read_document(path: Path) -> Document:
    """Read a `.yaml`, `.yml` or `.json` document.

    Raises:
        SuiteError: it cannot be read; the message says why and where.
    """
    if path.suffix.lower() == ".json":
        return Document(str(path), read_json(path))
    return yaml_document(str(path), read_text(path))


def yaml_document(name: str, text: str) -> Document:
    """Read a text that is YAML.

    Args:
        name: How messages call it.
        text: What it holds.

    Raises:
        SuiteError: it cannot be read; the message says why and where.
    """
    return _Yaml(name, text).document()


class _Yaml:
    """One YAML document, checked before it is built."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._text = text
        self._lines: dict[tuple[str | int, ...], int] = {}

    def document(self) -> Document:
        import yaml  # late: only imports pay for it

        kind = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            self._measure(yaml.parse(self._text, Loader=kind))
            loader: Any = kind(self._text)
            try:
                root = loader.get_single_node()
                if root is None:
                    return Document(self._name, None)
                self._weigh(root, {})
                value = self._built(loader, root, ())
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark is not None else None
            refuse(self._name, f"is not YAML: {error.problem or error.context}", line=line)
        except yaml.YAMLError as error:
            refuse(self._name, f"is not YAML: {' '.join(str(error).split())}")
        except (ValueError, OverflowError) as error:  # a date that is none
            refuse(self._name, f"holds a value that cannot be read: {error}")
        return Document(self._name, value, self._lines)

    def _measure(self, events: "Iterator[yaml.Event]") -> None:
        """Check the depth before anything recurses into it."""
        import yaml

        depth = 0
        for event in events:
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > _DEEPEST:
                line = event.start_mark.line + 1 if event.start_mark is not None else None
                refuse(self._name, f"nests more than {_DEEPEST} deep", line=line)

    def _weigh(self, node: "yaml.Node", known: dict[int, int]) -> int:
        """Count the values under a node with every alias written out."""
        import yaml

        if id(node) in known:
            weight = known[id(node)]
            if weight == 0:
                refuse(self._name, "holds an alias of itself", line=_line(node))
            return weight
        if node.tag not in _STANDARD:
            refuse(self._name, f"has the tag {node.tag}, and tags are not followed: take it out",
                   line=_line(node))  # fmt: skip
        known[id(node)] = 0
        weight = 1
        if isinstance(node, yaml.SequenceNode):
            weight += sum(self._weigh(one, known) for one in node.value)
        elif isinstance(node, yaml.MappingNode):
            self._see_keys_differ(node)
            weight += sum(self._weigh(one, known) for pair in node.value for one in pair)
        if weight > _MOST_NODES:
            refuse(self._name, f"holds more than {_MOST_NODES:,} values, aliases written out",
                   line=_line(node))  # fmt: skip
        known[id(node)] = weight
        return weight

    def _see_keys_differ(self, node: "yaml.MappingNode") -> None:
        import yaml

        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value != "<<":
                if key.value in seen:
                    refuse(self._name, f'has the key "{key.value}" twice', line=_line(key))
                seen.add(key.value)

    def _built(self, loader: Any, node: "yaml.Node", path: tuple[str | int, ...]) -> Json:  # noqa: ANN401 - one of two loaders
        import yaml

        if len(path) <= _LINES_DOWN_TO:
            self._lines.setdefault(path, _line(node))
        if isinstance(node, yaml.SequenceNode):
            return [self._built(loader, one, (*path, n)) for n, one in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            loader.flatten_mapping(node)
            table: JsonObject = {}
            for key, value in node.value:
                name = _text(loader.construct_object(key, deep=True))
                table[name] = self._built(loader, value, (*path, name))
            return table
        return _plain(loader.construct_object(node))


def _line(node: "yaml.Node") -> int:
    return int(node.start_mark.line) + 1


def _text(key: object) -> str:
    plain = _plain(key)
    return plain if isinstance(plain, str) else json.dumps(plain)


def _plain(value: object) -> Json:
    """Return a YAML scalar as JSON has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)


class ReferencedFiles:
    """The files that a file names: read if inside its folder, noted if not."""

    def __init__(self, folder: Path) -> None:
        self._folder = real_path(folder)

    def find(self, name: str) -> Path:
        """Return the path of a file that is named.

        Raises:
            ValueError: it lies outside the folder, or is not there; the message says so.
        """
        try:
            path = real_path(self._folder / name)
            inside = path.is_relative_to(self._folder)
            there = inside and path.is_file()
        except (OSError, ValueError):
            raise ValueError(f"{name!r} is no path") from None
        if not inside:
            raise ValueError(f"{name} lies outside the file's folder and was not read")
        if not there:
            raise ValueError(f"there is no file {name}")
        return path

    def all(self, pattern: str) -> list[Path]:
        """Return the files of a pattern, sorted, without links that lead out of the folder.

        Raises:
            ValueError: it leads outside the folder, or nothing matches.
        """
        if not any(mark in pattern for mark in "*?["):
            return [self.find(pattern)]
        parts = Path(pattern).parts
        if ".." in parts or Path(pattern).is_absolute():
            raise ValueError(f"{pattern} lies outside the file's folder and was not read")
        found = [
            path
            for path in sorted(self._folder.glob(pattern))
            if path.is_file() and real_path(path).is_relative_to(self._folder)
        ]
        if not found:
            raise ValueError(f"no file matches {pattern}")
        return found


def first_mistake(error: SuiteError) -> str:
    """Return a mistake in a file that another one names, as part of a sentence."""
    return str(error.mistakes[0])
