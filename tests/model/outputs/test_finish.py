import pytest

from tui_eval.model.outputs.finish import Ending, canonical, ending


@pytest.mark.parametrize(
    ("reason", "says", "word"),
    [
        ("stop", Ending.FINISHED, "stop"),
        ("STOP", Ending.FINISHED, "stop"),
        ("end_turn", Ending.FINISHED, "stop"),
        ("stopSequence", Ending.FINISHED, "stop"),
        ("COMPLETE", Ending.FINISHED, "stop"),
        ("tool_use", Ending.FINISHED, "tool_calls"),
        ("tool-calls", Ending.FINISHED, "tool_calls"),
        ("LENGTH", Ending.CUT, "length"),
        ("MAX_TOKENS", Ending.CUT, "length"),
        ("maxTokens", Ending.CUT, "length"),
        ("model_context_window_exceeded", Ending.CUT, "length"),
        ("CONTENT_FILTER", Ending.FILTERED, "content_filter"),
        ("content-filter", Ending.FILTERED, "content_filter"),
        ("PROHIBITED_CONTENT", Ending.FILTERED, "content_filter"),
        ("refusal", Ending.FILTERED, "content_filter"),
        ("error", Ending.BROKEN_OFF, "error"),
        ("ABORT", Ending.BROKEN_OFF, "ABORT"),
        ("insufficient_system_resource", Ending.BROKEN_OFF, "insufficient_system_resource"),
        ("timeout", Ending.BROKEN_OFF, "timeout"),
        ("expired", Ending.BROKEN_OFF, "expired"),
        ("RECITATION", Ending.UNKNOWN, "RECITATION"),
        ("MALFORMED_FUNCTION_CALL", Ending.UNKNOWN, "MALFORMED_FUNCTION_CALL"),
        ("pause_turn", Ending.UNKNOWN, "pause_turn"),
        ("incomplete", Ending.UNKNOWN, "incomplete"),
        ("stop" + "p" * 100_000, Ending.UNKNOWN, "stop" + "p" * 100_000),
        ("stop\x00", Ending.UNKNOWN, "stop\x00"),
    ],
)
def test_a_finish_reason_is_read_however_it_is_spelled(
    reason: str, says: Ending, word: str
) -> None:
    assert (ending(reason), canonical(reason)) == (says, word)


@pytest.mark.parametrize("reason", [None, ""])
def test_an_endpoint_that_gives_no_reason_has_finished(reason: str | None) -> None:
    assert ending(reason) is Ending.FINISHED
