"""A reply within a conversation as JSON, there and back."""

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Estimate, Output, Usage


def as_json(reply: Output) -> JsonObject:
    """Return what `from_json` reads: all of a reply to one call."""
    usage, estimate = reply.usage, reply.estimate
    messages: list[Json] = [*reply.messages]
    return {
        "text": reply.text,
        "reasoning": reply.reasoning,
        "messages": messages,
        "fields": reply.fields,
        "finish_reason": reply.finish_reason,
        "model": reply.model,
        "usage": [usage.input, usage.output, usage.reasoning, usage.cached],
        "cost_usd": reply.cost_usd,
        "self_reported": reply.self_reported,
        "latency_s": reply.latency_s,
        "estimate": None if estimate is None else [estimate.tokens, estimate.cost_usd],
    }


def from_json(stored: JsonObject) -> Output:
    """Read what `as_json` gave."""
    usage, estimate, messages = stored["usage"], stored["estimate"], stored["messages"]
    fields = stored["fields"]
    assert isinstance(usage, list)
    assert isinstance(messages, list)
    assert isinstance(fields, dict)
    return Output(
        text=_text(stored["text"]),
        reasoning=_text(stored["reasoning"]),
        messages=tuple(message for message in messages if isinstance(message, dict)),
        fields=fields,
        finish_reason=_text(stored["finish_reason"]),
        model=_text(stored["model"]),
        usage=Usage(*map(_count, usage)),
        cost_usd=_number(stored["cost_usd"]),
        self_reported=stored["self_reported"] is True,
        latency_s=_number(stored["latency_s"]),
        estimate=_estimate(estimate),
    )


def _estimate(stored: Json) -> Estimate | None:
    if not isinstance(stored, list):
        return None
    tokens, usd = stored
    return Estimate(_count(tokens) or 0, _number(usd))


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) else None


def _number(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) else None
