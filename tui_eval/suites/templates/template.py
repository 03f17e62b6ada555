"""Templates: texts of a suite into which a case's fields are put.

Jinja in a sandbox, strict: an undefined name is an error, never an empty text. A value that is one
`{{ expression }}` keeps its type. Templates that only name fields, which most are, are put
together without Jinja, to the same result.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias, cast

import jinja2
from jinja2 import meta, nodes

from tui_eval.model.json import Json
from tui_eval.suites.loading.errors import did_you_mean, nearest
from tui_eval.suites.templates import meter
from tui_eval.suites.templates.meter import TooMuchError
from tui_eval.suites.templates.sandbox import BoundedEnvironment, UndefinedNameError, as_text, plain

RESERVED: Final = ("case", "prompt", "messages", "examples", "output", "fields", "workspace")
"""Names that may mean something else than a column; such a column is reached by `case.NAME`."""

VALUES: Final = ("true", "false", "none", "True", "False", "None")
"""Names that are values in every template; such a column is reached by `case.NAME` only."""

Names: TypeAlias = Mapping[str, Json]
"""What a template can name: the case's fields at top level, and the reserved names there are."""

_ENVIRONMENT: Final = BoundedEnvironment()
_ALWAYS: Final = frozenset(("range", "dict", "cycler", "joiner", "namespace"))
_RESULT: Final = "tui_eval_result"
_MAX_SOURCE: Final = meter.MAX_TEXT
_SHOWN: Final = 20
"""The most names of a case a message lists."""
_NO_TEMPLATES: Final = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends, nodes.Block)

_RENDERING_ERRORS: Final = (
    jinja2.TemplateError,
    UndefinedNameError,
    TooMuchError,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
    MemoryError,
)
"""What a template can bring about by being wrong for a case; anything else is a bug here."""


class TemplateError(Exception):
    """A template is wrong, or cannot be rendered for a case."""

    def __init__(
        self, field: str, message: str, *, name: str | None = None, hint: str | None = None
    ) -> None:
        self.field = field
        """The field that holds the template (`prompt.user`)."""
        self.message = message
        self.name = name
        """The undefined name, where that is what is wrong."""
        self.hint = hint
        super().__init__(f"{field}: {message}" + (f"; {hint}" if hint else ""))


_Path: TypeAlias = tuple[str, ...]
_Fast: TypeAlias = tuple[tuple[str, _Path | None], ...]
"""Pieces in order: a literal text, or with a path the value that stands there."""


class _Compiled:
    """A template's source, compiled; shared by all fields that hold it."""

    def __init__(self, source: str) -> None:
        self.fast = _pieces(source)
        self.names: frozenset[str] = frozenset()
        self.required: frozenset[str] = frozenset()
        self.is_expression = False
        self._run: jinja2.Template | None = None
        self._source = source
        if self.fast is None:
            self._prepare()
        else:
            firsts = [path[0] for _, path in self.fast if path is not None]
            self.names = self.required = frozenset(firsts)
            self.is_expression = len(self.fast) == 1 and bool(firsts)

    def _prepare(self) -> jinja2.Template:
        tree = _ENVIRONMENT.parse(self._source)
        for node in tree.find_all(_NO_TEMPLATES):
            raise jinja2.TemplateSyntaxError(
                "templates stand alone: no include, import, extends or block", node.lineno
            )
        self.names = frozenset(meta.find_undeclared_variables(tree)) - _ALWAYS
        self.required = self.names - _guarded(tree)
        if any(name.name == "self" and name.ctx == "load" for name in tree.find_all(nodes.Name)):
            raise jinja2.TemplateSyntaxError(
                '"self" is a name of Jinja\'s own: write case.self for a field called so', 1
            )
        expression = _only_expression(tree)
        if expression is not None:
            self.is_expression = True
            target = nodes.Name(_RESULT, "store")
            tree = nodes.Template([nodes.Assign(target, expression, lineno=1)], lineno=1)
            tree.set_environment(_ENVIRONMENT)
        self._run = _ENVIRONMENT.from_string(tree)
        return self._run

    def run(self, names: Names) -> Json:
        """Render with Jinja: the value of an expression, or a text."""
        template = self._run or self._prepare()
        meter.start()
        context = template.new_context(dict(names))
        if self.is_expression:
            for _ in template.root_render_func(context):
                pass
            return cast("Json", plain(context.vars[_RESULT]))
        parts = []
        for part in template.root_render_func(context):
            meter.count_made(len(part))
            parts.append(part)
        text = "".join(parts)
        meter.count_made(len(text))
        return text


_SIMPLE: Final = re.compile(
    r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*(?:\.(?:[A-Za-z_][A-Za-z0-9_]*|0|[1-9][0-9]*))*)\s*\}\}"
)
_CONSTANTS: Final = frozenset((*VALUES, "not", "self"))
_NEWLINE: Final = re.compile(r"\r\n|\r")


def _pieces(source: str) -> _Fast | None:
    """Return the pieces of a template that only names fields; None where it needs Jinja."""
    pieces: list[tuple[str, _Path | None]] = []
    for index, part in enumerate(_SIMPLE.split(source)):
        if index % 2:
            path = tuple(part.split("."))
            if path[0] in _CONSTANTS:
                return None
            pieces.append(("", path))
        elif "{{" in part or "{%" in part or "{#" in part or part.endswith("{"):
            return None
        elif part:
            pieces.append((_NEWLINE.sub("\n", part), None))
    return tuple(pieces)


def _only_expression(tree: nodes.Template) -> nodes.Expr | None:
    if len(tree.body) == 1 and isinstance(tree.body[0], nodes.Output):
        parts = tree.body[0].nodes
        if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData):
            return parts[0]
    return None


def _guarded(tree: nodes.Template) -> set[str]:
    """Return the names that a template tests before it uses them (`is defined`, `default`)."""
    asked: set[str] = set()
    for test in tree.find_all((nodes.Test, nodes.Filter)):
        if test.name in ("defined", "undefined", "default", "d") and test.node is not None:
            node: nodes.Node = test.node
            while isinstance(node, nodes.Getattr | nodes.Getitem):
                node = node.node
            if isinstance(node, nodes.Name):
                asked.add(node.name)
    return asked


@lru_cache(maxsize=4096)
def _compiled(source: str) -> _Compiled:
    return _Compiled(source)


class Template:
    """One template of a suite, ready to be rendered for many cases."""

    __slots__ = ("_compiled", "_lookup", "field", "source")

    def __init__(self, source: str, field: str) -> None:
        """Compile a template.

        Args:
            source: The text as the suite has it.
            field: The path of the field it stands in, for messages.

        Raises:
            TemplateError: when it cannot be read as a template.
        """
        self.source = source
        self.field = field
        if len(source) > _MAX_SOURCE:
            raise TemplateError(field, f"a template has at most {_MAX_SOURCE:,} characters")
        try:
            self._compiled = _compiled(source)
        except jinja2.TemplateSyntaxError as error:
            message, hint = _syntax(error)
            raise TemplateError(field, message, hint=hint) from None
        except (RecursionError, MemoryError, SyntaxError, ValueError, OverflowError) as error:
            raise TemplateError(field, f"cannot be read as a template: {error}") from None
        self._lookup = _lookup(self._compiled.fast)

    @property
    def names(self) -> frozenset[str]:
        """The top-level names it uses."""
        return self._compiled.names

    @property
    def required(self) -> frozenset[str]:
        """The top-level names it uses without asking first whether they are defined."""
        return self._compiled.required

    @property
    def is_expression(self) -> bool:
        """Whether it is one `{{ expression }}` and so keeps the type of what it gives."""
        return self._compiled.is_expression

    def value(self, names: Names) -> Json:
        """Render it; one `{{ expression }}` keeps its type, anything else gives a text.

        Raises:
            TemplateError: for an undefined name, or whatever else the template meets.
        """
        if self._lookup is not None:
            try:
                if self._compiled.is_expression:
                    return self._lookup.value(names)
                return self._lookup.text(names)
            except (LookupError, TypeError):
                pass  # Jinja says what is wrong, or knows another meaning of the name
        return self._with_jinja(names)

    def text(self, names: Names) -> str:
        """Render it to a text, whatever it gives.

        Raises:
            TemplateError: as `value` does.
        """
        if self._lookup is not None:
            try:
                return self._lookup.text(names)
            except (LookupError, TypeError):
                pass  # as above
        value = self._with_jinja(names)
        return value if isinstance(value, str) else self._written(value)

    def _written(self, value: Json) -> str:
        try:
            return as_text(value)
        except TooMuchError as error:
            raise TemplateError(self.field, str(error)) from None

    def _with_jinja(self, names: Names) -> Json:
        try:
            return self._compiled.run(names)
        except UndefinedNameError as error:
            raise self._undefined(error, names) from None
        except _RENDERING_ERRORS as error:
            hint = _text_for_number(error, self.source)
            raise TemplateError(self.field, _said(error), hint=hint) from None

    def _undefined(self, error: UndefinedNameError, names: Names) -> TemplateError:
        if error.owner is None:
            known: Iterable[str] = names
            message = f'"{error.name}" is undefined'
        else:
            known = error.known
            message = f'"{error.name}" is undefined in {error.owner}'
        near = nearest(error.name, known)
        hint = f'did you mean "{near}"?' if near else None
        if near is None and error.owner is None:
            shown = [name for name in names if name not in RESERVED]
            more = ", …" if len(shown) > _SHOWN else ""
            hint = (
                f"there are {', '.join(shown[:_SHOWN])}{more}"
                if shown
                else "the case has no fields"
            )
        return TemplateError(self.field, message, name=error.name, hint=hint)


class _Lookup:
    """Renders pieces without Jinja; raises LookupError or TypeError where Jinja has to decide."""

    __slots__ = ("_paths", "_pieces", "_top")

    def __init__(self, pieces: _Fast) -> None:
        self._pieces = pieces
        self._paths = [path for _, path in pieces if path is not None]
        first = self._paths[0] if len(pieces) == 1 and self._paths else None
        self._top = first[0] if first is not None and len(first) == 1 else None

    def value(self, names: Names) -> Json:
        if self._top is not None:
            return names[self._top]
        return _follow(names, self._paths[0])

    def text(self, names: Names) -> str:
        parts = []
        for literal, path in self._pieces:
            if path is None:
                parts.append(literal)
                continue
            value = _follow(names, path) if len(path) > 1 else names[path[0]]
            parts.append(value if type(value) is str else str(value))
        text = "".join(parts)
        if len(text) > meter.MAX_TEXT:
            raise TypeError("too long: Jinja says so")
        return text


def _lookup(pieces: _Fast | None) -> _Lookup | None:
    return None if pieces is None else _Lookup(pieces)


def _follow(names: Names, path: _Path) -> Json:
    value: object = names
    for step in path:
        if isinstance(value, dict):
            value = value[step]
        elif isinstance(value, list) and step.isdigit():
            value = value[int(step)]
        else:
            raise TypeError(step)
    return cast("Json", value)


_FALSE_TEXTS: Final = frozenset(("", "false", "none", "0"))


def holds(value: Json) -> bool:
    """Return whether what a condition's template gave is true; a text is where it says so."""
    if isinstance(value, str):
        return value.strip().casefold() not in _FALSE_TEXTS
    return bool(value)


class NestedTemplate:
    """A JSON value in which any text may be a template (`expected = ["{{ a }}", "b"]`)."""

    __slots__ = ("_made", "field")

    def __init__(self, value: Json, field: str) -> None:
        """Compile every text in a value.

        Args:
            value: The value as the suite has it.
            field: The path of the field it stands in, for messages.

        Raises:
            TemplateError: when a text in it cannot be read as a template.
        """
        self.field = field
        self._made = _nested(value, field)

    @property
    def required(self) -> frozenset[str]:
        """The top-level names it uses without asking first whether they are defined."""
        return frozenset[str]().union(*(part.required for part in self.templates()))

    def templates(self) -> list[Template]:
        """Return every template in it."""
        found: list[Template] = []
        waiting: list[object] = [self._made]
        while waiting:
            item = waiting.pop()
            if isinstance(item, Template):
                found.append(item)
            elif isinstance(item, dict):
                waiting.extend(item.values())
            elif isinstance(item, list):
                waiting.extend(item)
        return found

    def value(self, names: Names) -> Json:
        """Render it; each text that is one `{{ expression }}` keeps the type of what it gives.

        Raises:
            TemplateError: as `Template.value` does.
        """
        return _render_nested(self._made, names)


_Nested: TypeAlias = (
    "bool | int | float | str | Template | list[_Nested] | dict[str, _Nested] | None"
)


def _nested(value: Json, field: str) -> _Nested:
    if isinstance(value, str):
        return Template(value, field)
    if isinstance(value, list):
        return [_nested(item, f"{field}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _nested(item, f"{field}.{key}") for key, item in value.items()}
    return value


def _render_nested(made: _Nested, names: Names) -> Json:
    if isinstance(made, Template):
        return made.value(names)
    if isinstance(made, list):
        return [_render_nested(item, names) for item in made]
    if isinstance(made, dict):
        return {key: _render_nested(item, names) for key, item in made.items()}
    return made


_UNKNOWN: Final = re.compile(r"No (filter|test) named '([^']*)'")


def _syntax(error: jinja2.TemplateSyntaxError) -> tuple[str, str | None]:
    message = error.message or "cannot be read as a template"
    unknown = _UNKNOWN.search(message)
    if unknown:
        known = _ENVIRONMENT.filters if unknown[1] == "filter" else _ENVIRONMENT.tests
        return f'unknown {unknown[1]} "{unknown[2]}"', did_you_mean(unknown[2], sorted(known))
    line = f" (line {error.lineno} of the template)" if error.lineno > 1 else ""
    return f"is no template: {message}{line}", None


def _said(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it calls itself without end, or nests too deeply"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, KeyError):
        return f"there is no {error}"
    return str(error) or type(error).__name__


_TEXT_FOR_NUMBER: Final = re.compile(
    r"'str' and '(int|float)'|'(int|float)' and 'str'|concatenate str \(not \"(int|float)\"\)"
)
_WITH_NUMBER: Final = re.compile(r"([A-Za-z_][\w.]*)(\s*(?:[<>]=?|[-+*/])\s*\d+(\.\d+)?)")


def _text_for_number(error: Exception, source: str) -> str | None:
    """Return the hint for a text used as a number, as every cell of a CSV is a text."""
    if not isinstance(error, TypeError) or not _TEXT_FOR_NUMBER.search(str(error)):
        return None
    found = _WITH_NUMBER.search(source)
    if found is None:
        written = "{{ level | int > 3 }}"
    else:
        written = f"{{{{ {found[1]} | {'float' if found[3] else 'int'}{found[2]} }}}}"
    return f"it is a text there, as every cell of a CSV or TSV file is: write {written}"
