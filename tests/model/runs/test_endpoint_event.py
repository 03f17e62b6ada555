import pytest

from tui_eval.model.runs.endpoint_event import EndpointEvent, EndpointEventKind, note

K = EndpointEventKind


def test_every_kind_has_words() -> None:
    for kind in EndpointEventKind:
        event = EndpointEvent(kind, seconds=1.0, before_s=0.5, what="requests")
        assert event.words
        assert "{" not in event.words


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (
            EndpointEvent(K.SLOWER, seconds=1.234, before_s=0.5),
            "calls take 1.2 s, 0.5 s when there were fewer",
        ),
        (
            EndpointEvent(K.NOTHING_REMAINS, seconds=1.5, what="tokens"),
            "nothing remains of its tokens: paused for 1.5 s",
        ),
        (EndpointEvent(K.ANSWERS_AGAIN, seconds=12.4), "answers again after 12 s"),
        (note("{seconds} {0}"), "{seconds} {0}"),
    ],
)
def test_figures_and_foreign_text_stand_in_the_words(event: EndpointEvent, words: str) -> None:
    assert event.words == words


def test_what_leaves_an_endpoint_alone() -> None:
    leaving = {kind for kind in K if EndpointEvent(kind).leaves_alone}
    assert leaving == {K.REFUSES_ALL, K.NOTHING_REMAINS}
