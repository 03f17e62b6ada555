"""From a scorer's settings as rendered for a case to the settings its check is graded by.

Each kind has one form: what may be written in several ways stands here in one, so that the same
question always has the same score key.
"""

from collections.abc import Callable
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.scoring import jsontext, options
from tui_eval.scoring.errors import SettingError, named
from tui_eval.scoring.judge_settings import judged
from tui_eval.scoring.normal import normalized
from tui_eval.scoring.numbers import expected_number
from tui_eval.scoring.wording import quoted
from tui_eval.suites import patterns


def rendered(kind: str, settings: JsonObject) -> JsonObject:
    """Bring the rendered settings of a scorer of this kind into their one form.

    Raises:
        SettingError: for a null, a wrong type, or a value that asks nothing.
    """
    settle = _KINDS.get(kind)
    return settle(settings) if settle else settings


def _texts(settings: JsonObject) -> JsonObject:
    return {**settings, "expected": [*_expected(settings)]}


def _expected(settings: JsonObject) -> list[str]:
    given = settings["expected"]
    if isinstance(given, str):
        return [given]
    items: list[Json] = []
    for item in given if isinstance(given, list) else [given]:
        items.extend(item if isinstance(item, list) else [item])
    if not items:
        raise SettingError(
            "expected is an empty list: give the scorer a `when`, or the case a `skip`"
        )
    return [_scalar(item) for item in items]


def _scalar(value: Json) -> str:
    if value is None:
        raise SettingError("expected is null")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise SettingError(f"expected holds {named(value)} where a text or number is meant")


def _compared(settings: JsonObject) -> JsonObject:
    settled = _texts(settings)
    if settings.get("normalize") is True:
        for expected in _expected(settings):
            if expected and not normalized(expected):
                raise SettingError(f"normalize leaves nothing of expected {quoted(expected)}")
    return settled


def _found(settings: JsonObject) -> JsonObject:
    if "" in _expected(settings):
        raise SettingError("expected is an empty text, which is found in every output")
    return _compared(settings)


def _patterned(settings: JsonObject) -> JsonObject:
    for pattern in _expected(settings):
        try:
            patterns.compiled(pattern, settings["ignore_case"] is True)
        except patterns.PatternError as error:
            message = f"expected {quoted(pattern)} is not a regular expression: {error}"
            raise SettingError(message) from error
    return _texts(settings)


def _numeric(settings: JsonObject) -> JsonObject:
    given = settings["expected"]
    for item in given if isinstance(given, list) else [given]:
        try:
            expected_number(item)
        except ValueError as error:
            raise SettingError(f"expected {named(item)} is no number: {error}") from error
    return _texts(settings)


def _choice(settings: JsonObject) -> JsonObject:
    expected = _expected(settings)
    try:
        offered = _offered(settings["choices"], expected)
    except ValueError as error:
        raise SettingError(f"choices: {error}") from error
    labels: list[Json] = []
    for one in expected:
        label = offered.labelled(one)
        if label is None:
            raise SettingError(_no_option(one, offered))
        labels.append(label)
    choices: JsonObject = {"labels": [*offered.labels], "texts": [*offered.texts]}
    return {**settings, "expected": labels, "choices": choices}


def _offered(choices: Json, expected: list[str]) -> options.Options:
    if choices is None:
        return options.options(None, expected)
    if isinstance(choices, dict) and choices:
        return options.labelled([(label, _scalar(text)) for label, text in choices.items()])
    if isinstance(choices, list) and choices:
        return options.options([_scalar(text) for text in choices])
    raise SettingError(f"choices gives {named(choices)} where a list of options is meant")


def _no_option(expected: str, offered: options.Options) -> str:
    if not offered.texts:
        return f"expected {quoted(expected)} is no letter: name the options with `choices`"
    labels = ", ".join(offered.labels)
    return f"expected {quoted(expected)} is none of the options {labels} and none of their texts"


def _json(settings: JsonObject) -> JsonObject:
    expected = settings.get("expected")
    if not isinstance(expected, str):
        return settings
    try:
        return {**settings, "expected": jsontext.parse(expected)}
    except ValueError:
        return settings  # a text that is not itself JSON is meant as it stands


def _schema(settings: JsonObject) -> JsonObject:
    if settings.get("schema") is None:
        raise SettingError("schema_file has not been read into schema")
    return settings


_KINDS: Final[dict[str, Callable[[JsonObject], JsonObject]]] = {
    "exact": _compared,
    "includes": _found,
    "starts_with": _found,
    "regex": _patterned,
    "numeric": _numeric,
    "choice": _choice,
    "fuzzy": _compared,
    "f1": _texts,
    "json": _json,
    "json_schema": _schema,
    "finish": _texts,
    "judge": judged,
}
