"""Replies of a model that calls tools."""

import json
from typing import Any

from tests.servers.fake_model import Reply


def calling(*calls: tuple[str, Any], text: str | None = None, model: str = "fake-model") -> Reply:
    """Make the reply that calls tools, each with its arguments; a text stands as it is."""
    made = [
        {
            "id": f"call_{place}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for place, (name, given) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, "tool_calls": made}
    body = {
        "id": "x",
        "object": "chat.completion",
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
    return Reply("status", status=200, body=json.dumps(body))


def tool(name: str, answers: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Describe a tool of a suite."""
    made: dict[str, Any] = {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object"}},
    }
    return made if answers is None else {**made, "answers": answers}
