import json

from tui_eval.model.json import JsonObject
from tui_eval.scoring.judge.shown_messages import LONGEST, MOST, bounded


def test_short_messages_are_shown_as_they_are() -> None:
    said: list[JsonObject] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "function": {}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "-3 °C"},
    ]
    assert bounded(said) == said


def test_of_a_long_text_both_ends_are_shown() -> None:
    text = "a" * LONGEST + "b" * LONGEST
    call: JsonObject = {"id": "c1", "function": {"name": "f", "arguments": text}}
    said: list[JsonObject] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": text},
    ]
    called, result = bounded(said)
    for shown in (called["tool_calls"][0]["function"]["arguments"], result["content"]):  # type: ignore[call-overload,index]
        assert shown.startswith("aaa") and shown.endswith("bbb")  # type: ignore[union-attr]
        assert "[… 20,000 characters left out …]" in shown  # type: ignore[operator]


def test_of_very_many_messages_the_first_and_the_last_are_shown() -> None:
    said: list[JsonObject] = [{"role": "tool", "content": f"{n} " * 1000} for n in range(200)]
    shown = bounded(said)
    assert len(json.dumps(shown)) < MOST * 1.1
    assert (shown[0], shown[-1]) == (said[0], said[-1])
    (note,) = [one for one in shown if isinstance(one, dict) and "left_out" in one]
    assert note["left_out"] == f"{200 - len(shown) + 1} messages in between"


def test_pictures_are_marks() -> None:
    picture: JsonObject = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    said: list[JsonObject] = [{"role": "user", "content": [{"type": "text", "text": "?"}, picture]}]
    assert bounded(said) == [{"role": "user", "content": "?\n[image]"}]
