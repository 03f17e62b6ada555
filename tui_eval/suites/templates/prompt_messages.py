"""What a prompt says: messages written one by one, or a column that holds the conversation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import content_trouble, from_text, read_messages
from tui_eval.suites.spec import Prompt
from tui_eval.suites.templates.template import Names, Template, TemplateError

_Compiled: TypeAlias = (
    "bool | int | float | str | Template | list[_Compiled] | dict[str, _Compiled] | None"
)
_FIXED: Final = ("role", "type")
"""Fields whose texts are words of the form, and no templates."""
_MOST_TURNS: Final = 1_000


class PromptMessages:
    """A prompt's own messages and turns, compiled; examples and session are added by others."""

    def __init__(self, prompt: Prompt, field: str) -> None:
        """Compile the templates.

        Args:
            prompt: The prompt.
            field: The path of its table, for messages.

        Raises:
            TemplateError: when a template cannot be read.
        """
        self._written: list[dict[str, _Compiled]] = []
        self._plain: list[tuple[str, Template]] | None = None
        """Role and text of each message, where they have nothing else: as nearly all do."""
        self._held: Template | None = None
        """Gives the whole conversation of a case; None: it is written here."""
        self._turns: list[_Compiled] = []
        self._held_turns: Template | None = None
        """Gives what the user says, turn by turn; None: it is written here."""
        if isinstance(prompt.messages, str):
            self._held = Template(prompt.messages, f"{field}.messages")
        else:
            self._written = [*_messages(prompt, field)]
            self._plain = _plain(self._written)
        if isinstance(prompt.turns, str):
            self._held_turns = Template(prompt.turns, f"{field}.turns")
        else:
            self._turns = [
                _compiled(_jsonable(turn), f"{field}.turns[{n}]")
                for n, turn in enumerate(prompt.turns or ())
            ]

    @property
    def templates(self) -> tuple[Template, ...]:
        """Every template in them."""
        held = [one for one in (self._held, self._held_turns) if one is not None]
        return (*held, *_templates([*self._written, *self._turns]))

    @property
    def question(self) -> str | None:
        """The source of what the user asks; None: it is no single text that stands in the suite."""
        asks = [one["content"] for one in self._written if one["role"] == "user"]
        last = [*self._turns[:1], *reversed(asks)]
        found = last[0] if last else None
        return found.source if isinstance(found, Template) else None

    def opening(self, names: Names) -> list[JsonObject]:
        """Return what is sent first: all messages, and the first turn.

        Raises:
            TemplateError: when a template cannot be rendered for these names.
        """
        if self._held is not None:
            return _read(self._held, names)
        found: list[JsonObject]
        if self._plain is not None:
            found = [{"role": role, "content": text.text(names)} for role, text in self._plain]
        else:
            found = [
                {name: _rendered(value, names) for name, value in one.items()}
                for one in self._written
            ]
        if self._held_turns is not None:
            found.append(_said(_read_turns(self._held_turns, names)[0]))
        elif self._turns:
            found.append(_said(_rendered(self._turns[0], names)))
        return found

    def further_turns(self, names: Names) -> tuple[Json, ...]:
        """Return what the user says after each reply, first to last; empty: nothing.

        Raises:
            TemplateError: when a template cannot be rendered for these names.
        """
        if self._held_turns is not None:
            return tuple(_read_turns(self._held_turns, names)[1:])
        return tuple(_rendered(one, names) for one in self._turns[1:])


def _messages(prompt: Prompt, field: str) -> Iterator[dict[str, _Compiled]]:
    written = prompt.messages if isinstance(prompt.messages, tuple) else ()
    for number, message in enumerate(written):
        said = message.model_dump(mode="json", exclude_none=True)
        yield _message({"content": None, **said}, f"{field}.messages[{number}]")
    if prompt.system is not None:
        yield {"role": "system", "content": Template(prompt.system, f"{field}.system")}
    if prompt.user is not None:
        yield {"role": "user", "content": Template(prompt.user, f"{field}.user")}


def _plain(written: Sequence[dict[str, _Compiled]]) -> list[tuple[str, Template]] | None:
    found = []
    for one in written:
        role, content = one["role"], one["content"]
        if len(one) > 2 or not isinstance(role, str) or not isinstance(content, Template):
            return None
        found.append((role, content))
    return found


def _message(written: JsonObject, field: str) -> dict[str, _Compiled]:
    return {
        name: value
        if name in _FIXED and isinstance(value, str)
        else _compiled(value, f"{field}.{name}")
        for name, value in written.items()
    }


def _jsonable(turn: "str | tuple[Mapping[str, Json], ...]") -> Json:
    return turn if isinstance(turn, str) else [dict(part) for part in turn]


def _compiled(value: Json, field: str) -> _Compiled:
    """Compile every text in a value; each stays a text whatever it gives."""
    if isinstance(value, str):
        return Template(value, field)
    if isinstance(value, list):
        return [_compiled(item, f"{field}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {**_message(value, field)}
    return value


def _rendered(made: _Compiled, names: Names) -> Json:
    if isinstance(made, Template):
        return made.text(names)
    if isinstance(made, list):
        return [_rendered(item, names) for item in made]
    if isinstance(made, dict):
        return {name: _rendered(item, names) for name, item in made.items()}
    return made


def _templates(made: Sequence[_Compiled]) -> Iterator[Template]:
    for one in made:
        if isinstance(one, Template):
            yield one
        elif isinstance(one, list):
            yield from _templates(one)
        elif isinstance(one, dict):
            yield from _templates([*one.values()])


def _said(content: Json) -> JsonObject:
    return {"role": "user", "content": content}


def _read(template: Template, names: Names) -> list[JsonObject]:
    """Return the conversation that a template gives.

    Raises:
        TemplateError: it gives none.
    """
    try:
        found = read_messages(template.value(names))
    except ValueError as error:
        raise TemplateError(template.field, str(error)) from None
    if not found:
        raise TemplateError(template.field, "gives an empty list: nothing is asked")
    return found


def _read_turns(template: Template, names: Names) -> list[Json]:
    """Return the turns that a template gives, at least one.

    Raises:
        TemplateError: it gives none, or something else.
    """
    given = from_text(template.value(names))
    if not isinstance(given, list):
        raise TemplateError(template.field, "gives no list of turns")
    if not 0 < len(given) <= _MOST_TURNS:
        what = "an empty list: nothing is asked" if not given else f"more than {_MOST_TURNS} turns"
        raise TemplateError(template.field, f"gives {what}")
    turns = [_content(turn) for turn in given]
    for number, turn in enumerate(turns, 1):
        trouble = content_trouble(turn)
        if trouble is not None:
            raise TemplateError(template.field, f"turn {number}: {trouble}")
    return turns


def _content(turn: Json) -> Json:
    """Return what a turn says: it may be a message of the user."""
    said = isinstance(turn, dict) and turn.get("role") == "user"
    return turn.get("content") if said and isinstance(turn, dict) else turn
