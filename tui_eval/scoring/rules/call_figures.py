"""Scorers of what the call took: `latency`, `tokens`, `cost`, and how it ended: `finish`."""

from collections.abc import Callable, Mapping
from typing import Final

from tui_eval.format import SELF_REPORTED
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import canonical
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.scoring.settings import number, text, texts
from tui_eval.texts.wording import one_of, quoted


def _tokens(settings: JsonObject, output: Output) -> Json:
    which, usage = text(settings["which"]), output.usage
    if which == "input":
        return usage.input
    if which == "output":
        return usage.output
    if usage.input is None or usage.output is None:
        return None
    return usage.input + usage.output


FIGURES: Final[Mapping[str, Callable[[JsonObject, Output], Json]]] = {
    "latency": lambda _, output: output.latency_s,
    "tokens": _tokens,
    "cost": lambda _, output: output.cost_usd,
}
"""What a scorer looks at that is no part of an output's digest; None: the endpoint did not say."""


def latency(settings: JsonObject, output: Output) -> Grade:
    """Pass where the call itself took at most `max` seconds."""
    return _bounded("latency", settings, output, "{:.3g} s", "how long the call took")


def tokens(settings: JsonObject, output: Output) -> Grade:
    """Pass where the call took at most `max` tokens."""
    which = text(settings["which"])
    return _bounded("tokens", settings, output, "{:,} tokens", f"its {which} tokens")


def cost(settings: JsonObject, output: Output) -> Grade:
    """Pass where the output cost at most `max` US dollars."""
    return _bounded("cost", settings, output, "${:.6g}", "what it cost")


def _bounded(kind: str, settings: JsonObject, output: Output, form: str, what: str) -> Grade:
    measured = number(FIGURES[kind](settings, output))
    if measured is None:
        return Grade.ungraded(f"{what} is unknown" if kind != "tokens" else f"{what} are unknown")
    most = number(settings["max"])
    if most is None:
        raise TypeError(f"a {kind} check without its max")
    passed = measured <= most
    shown, bound = form.format(measured), form.format(most)
    if shown == bound and not passed:
        shown, bound = str(measured), str(most)
    whose = f", {SELF_REPORTED}" if output.self_reported and kind != "latency" else ""
    return Grade.of(passed, f"{shown} {'≤' if passed else '>'} {bound}{whose}", measured)


def finish(settings: JsonObject, output: Output) -> Grade:
    """Pass where the finish reason is an expected one."""
    if output.finish_reason is None:
        return Grade.ungraded("the finish reason is unknown")
    expected = [canonical(word) for word in texts(settings["expected"])]
    got = canonical(output.finish_reason)
    reason = f"expected to finish with {one_of(expected)}, got {quoted(got)}"
    return Grade.of(got in expected, reason, got)
