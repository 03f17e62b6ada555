from tui_eval.model.json import JsonObject
from tui_eval.targets.model.responses_input import responses_input

CALL: JsonObject = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}


def test_calls_and_results_are_items_of_their_own() -> None:
    chat: list[JsonObject] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Cold in Oslo?"},
        {"role": "assistant", "content": "I look.", "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "-3 °C"},
        {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "c2"}]},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
    ]
    called = {"type": "function_call", "name": "weather", "arguments": '{"city": "Oslo"}'}
    assert responses_input(chat) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Cold in Oslo?"},
        {"role": "assistant", "content": "I look."},
        {**called, "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "-3 °C"},
        {**called, "call_id": "c2"},
        {"type": "function_call_output", "call_id": "c2", "output": ""},
    ]


def test_parts_are_named_as_the_api_names_them() -> None:
    said: list[JsonObject] = [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:…"}},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "A cat."}]},
    ]
    assert responses_input(said) == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What is it?"},
                {"type": "input_image", "image_url": "https://a/b.png", "detail": "low"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:…"},
            ],
        },
        {"role": "assistant", "content": [{"type": "output_text", "text": "A cat."}]},
    ]
