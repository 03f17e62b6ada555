"""A judge for tests: answers in the wire format as any outside server could."""

import json
from collections.abc import Callable, Mapping
from typing import Any

Item = Mapping[str, Any]
Grader = Callable[[Item], Mapping[str, Any] | None]
"""Gives the grade of an item without its id; None: none is given."""


def asked(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give what a judge is asked in a request; None: it is no request to a judge."""
    messages = body.get("messages", body.get("input", []))
    content = messages[-1]["content"] if isinstance(messages, list) and messages else ""
    if not isinstance(content, str) or '"items"' not in content:
        return None
    found, _ = json.JSONDecoder().raw_decode(content[content.index("{") :])
    return found if isinstance(found, dict) and "items" in found else None


def reply(request: Mapping[str, Any], grader: Grader) -> str:
    """Write the reply of a judge that grades each item by itself."""
    grades = []
    for item in request["items"]:
        grade = grader(item)
        if grade is not None:
            grades.append({"id": item["id"], "reason": "as it is", **grade})
    return json.dumps({"nonce": request["nonce"], "grades": grades})


def answers(grader: Grader) -> Callable[[dict[str, Any]], str]:
    """Play target and judge in one server: a target says back what it is asked."""

    def answer(body: dict[str, Any]) -> str:
        request = asked(body)
        if request is None:
            return str(body["messages"][-1]["content"])
        return reply(request, grader)

    return answer


def by_number(item: Item) -> dict[str, Any]:
    """Grade `q7` with 7 of 10 and so on: the last digit of the output."""
    return {"score": int(str(item["output"])[-1])}
