"""The scorer `choice`."""

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade
from tui_eval.scoring.rules.choice_replies import chosen
from tui_eval.scoring.settings import texts
from tui_eval.texts.options import Options
from tui_eval.texts.wording import plain, quoted


def choice(settings: JsonObject, text: str) -> Grade:
    """Pass where the option that the text chooses is an expected one."""
    options = offered(settings["choices"])
    expected = texts(settings["expected"])
    expectation = f"expected {' or '.join(named(label, options) for label in expected[:3])}"
    found = chosen(text, options)
    if not found:
        return Grade.of(False, f"{expectation}, found no choice in {quoted(text)}")
    if len(found) > 1:
        several = " and ".join(plain(label, 20) for label in found[:5])
        reason = f"{expectation}, ambiguous between {several}: {quoted(text)}"
        return Grade.of(False, reason, list(found))
    label = found[0]
    return Grade.of(label in expected, f"{expectation}, got {named(label, options)}", label)


def offered(value: Json) -> Options:
    """Read the options back from a check's settings: labels and texts side by side."""
    if not isinstance(value, dict):
        raise TypeError("a choice check without its options")
    return Options(tuple(texts(value["labels"])), tuple(texts(value["texts"])))


def named(label: str, options: Options) -> str:
    """Return an option as reasons name it: its label, and its text where that is known."""
    text = options.text_of(label)
    return f"{plain(label, 20)} ({plain(text, 40)})" if text else plain(label, 20)
