"""The scorer `likelihood`: which option the model found likeliest, whatever it then said.

An option's probability is that of its label as the answer's first token, in one request, as MMLU is
graded (Hendrycks et al. 2021). Spellings of a label add up (`B`, ` B`, `(B`). An option that is not
among the tokens the endpoint lists is less likely than any that is.
"""

import math
from collections.abc import Sequence
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.providers.finite import finite
from tui_eval.scoring.rules.choice import named, offered
from tui_eval.scoring.settings import number, texts
from tui_eval.texts.options import Options
from tui_eval.texts.wording import quoted

_ASK: Final = "ask for them with params = { logprobs = true, top_logprobs = 20 }"
_AROUND: Final = " \t\r\n()[].:*\"'"
"""What may stand around a label in its token."""


def likelihood(settings: JsonObject, output: Output) -> Grade:
    """Pass where the likeliest option is an expected one, or likely enough with a threshold."""
    options, expected = offered(settings["choices"]), texts(settings["expected"])
    top = _first_token(output.fields.get("logprobs"))
    if isinstance(top, str):
        return Grade.ungraded(top)
    found = _probabilities(options.labels, top)
    if not found:
        shown = ", ".join(quoted(token, 20) for token, _ in top[:5])
        labels = ", ".join(options.labels)
        return Grade.ungraded(
            f"none of {labels} is among the {len(top)} likeliest first tokens: {shown}"
        )
    best = max(found.values())
    likeliest = [label for label in options.labels if found.get(label) == best]
    right = sum(found.get(label, 0.0) for label in set(expected)) / sum(found.values())
    raw: JsonObject = {"probabilities": {**found}, "right": right, "listed": len(top)}
    threshold = number(settings["threshold"])
    reason = f"expected {' or '.join(named(one, options) for one in expected[:3])}, "
    reason += _told(options, found)
    if threshold is not None:
        passed = right >= threshold
        return Grade(_verdict(passed), right, f"{right:.2f} of the options: {reason}", raw)
    if len(likeliest) > 1 and not set(likeliest) <= set(expected):
        return Grade.of(False, f"{reason}: {' and '.join(likeliest)} are equally likely", raw)
    return Grade.of(likeliest[0] in expected, reason, raw)


def _first_token(logprobs: Json) -> list[tuple[str, float]] | str:
    """Return the likeliest tokens in the first place that is no white space, or why not."""
    places = logprobs if isinstance(logprobs, list) else []
    if not places:
        return f"the endpoint gave no log-probabilities: {_ASK}"
    for place in places:
        match place:
            case {"token": str(token), "top_logprobs": [*top]} if token.strip():
                read = [
                    (one["token"], one["logprob"])
                    for one in top
                    if isinstance(one, dict)
                    and isinstance(one.get("token"), str)
                    and finite(one.get("logprob"))
                ]
                likeliest = [(str(one), float(str(logprob))) for one, logprob in read]
                return likeliest or f"the endpoint listed no likeliest tokens: {_ASK}"
    return f"the first {len(places)} tokens are white space, or list no likeliest ones: {_ASK}"


def _probabilities(labels: Sequence[str], top: Sequence[tuple[str, float]]) -> dict[str, float]:
    """Return the probability of each label that is listed, likeliest first."""
    found: dict[str, float] = {}
    for token, logprob in top:
        label, probability = token.strip(_AROUND), math.exp(min(0.0, logprob))
        if label in labels and probability > 0:  # −9999 stands for a token that could not come
            found[label] = found.get(label, 0.0) + probability
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _told(options: Options, found: dict[str, float]) -> str:
    listed = [f"{label} {probability:.3g}" for label, probability in found.items()]
    missing = [label for label in options.labels if label not in found]
    if options.texts and missing:
        listed.append(f"not listed: {', '.join(missing)}")
    return ", ".join(listed)


def _verdict(passed: bool) -> Verdict:
    return Verdict.PASS if passed else Verdict.FAIL
