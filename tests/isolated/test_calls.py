"""Calls in processes of their own: what they may take, and what is left of them."""

import asyncio
import math
import os
import pickle
import re
import struct
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
import pytest

from tui_eval.isolated import calls as module
from tui_eval.isolated.calls import (
    AbandonedError,
    CallFailedError,
    EndedError,
    IsolatedCalls,
    TookTooLongError,
    TookTooMuchError,
)

ENDLESS = ("(a|aa)+$", "a" * 200 + "!")
"""A pattern and a text that `re` takes years for, without ever letting go of the interpreter."""


@pytest.fixture
def calls() -> Iterator[IsolatedCalls]:
    made = IsolatedCalls()
    yield made
    made.close()


def descriptors() -> int:
    return psutil.Process().num_fds()


def processes() -> list[psutil.Process]:
    found = psutil.Process().children()
    return [one for one in found if "tui_eval.isolated" in one.cmdline()]


def test_a_call_gives_what_the_function_returns_and_its_process_is_kept(
    calls: IsolatedCalls,
) -> None:
    assert calls.call(10, math.factorial, 5) == 120
    [kept] = processes()
    assert calls.call(10, len, b"x" * 5_000_000) == 5_000_000
    assert len(calls.call(10, bytes, 5_000_000)) == 5_000_000
    assert processes() == [kept]
    calls.close()
    assert not kept.is_running()


def test_nothing_is_started_before_it_is_needed() -> None:
    IsolatedCalls().close()
    assert processes() == []


def test_what_cannot_be_sent_starts_no_process(calls: IsolatedCalls) -> None:
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(RecursionError):
        calls.call(10, len, nested)
    assert processes() == []
    while nested:  # or else taking it away goes as deep
        nested = nested[0]  # type: ignore[assignment]


def test_what_cannot_be_read_ends_its_process(
    calls: IsolatedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_: bytes) -> object:
        raise pickle.UnpicklingError("torn")

    with monkeypatch.context() as patch, pytest.raises(pickle.UnpicklingError):
        patch.setattr(pickle, "loads", unreadable)
        calls.call(10, math.factorial, 5)
    assert processes() == []
    assert calls.call(10, math.factorial, 5) == 120


def test_what_takes_too_long_is_ended_and_the_next_call_has_a_new_process(
    calls: IsolatedCalls,
) -> None:
    with pytest.raises(TookTooLongError, match=r"^took longer than 0\.1 s$"):
        calls.call(0.1, re.match, *ENDLESS)
    assert calls.call(10, math.factorial, 3) == 6
    assert len(processes()) == 1


def test_what_takes_too_much_memory_is_ended(calls: IsolatedCalls) -> None:
    with pytest.raises(TookTooMuchError):
        calls.call(10, bytes, 2 << 30)
    assert calls.call(10, math.factorial, 3) == 6


def test_what_the_function_raises_is_told_with_its_traceback(calls: IsolatedCalls) -> None:
    with pytest.raises(CallFailedError, match="ValueError"):
        calls.call(10, math.factorial, -1)
    [kept] = processes()
    assert calls.call(10, math.factorial, 3) == 6
    assert processes() == [kept]


def test_a_process_that_ends_by_itself_is_told_and_replaced(calls: IsolatedCalls) -> None:
    with pytest.raises(EndedError, match=r"exit code 3"):
        calls.call(10, os._exit, 3)
    assert calls.call(10, math.factorial, 3) == 6


def test_a_process_that_died_while_it_waited_is_replaced_unnoticed(calls: IsolatedCalls) -> None:
    calls.call(10, math.factorial, 3)
    [kept] = processes()
    kept.kill()
    while kept.is_running() and kept.status() != psutil.STATUS_ZOMBIE:
        pass
    assert calls.call(10, math.factorial, 3) == 6


def test_it_has_no_keys_and_no_more_descriptors_than_it_needs(
    calls: IsolatedCalls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert calls.call(10, os.getenv, "OPENAI_API_KEY") is None
    assert len(calls.call(10, os.listdir, "/proc/self/fd")) <= 5


def test_no_more_processes_work_at_once_than_may(calls: IsolatedCalls) -> None:
    with ThreadPoolExecutor(8) as threads:
        pids = {*threads.map(lambda _: calls.call(10, os.getpid), range(40))}
    assert 1 <= len(pids) <= 2


def test_descriptors_are_given_back() -> None:
    before = descriptors()
    for _ in range(3):
        made = IsolatedCalls()
        made.call(10, math.factorial, 3)
        with pytest.raises(TookTooLongError):
            made.call(0.05, re.match, *ENDLESS)
        made.close()
    assert descriptors() == before
    assert processes() == []


def test_closing_ends_a_call_that_is_under_way(calls: IsolatedCalls) -> None:
    ended: list[BaseException] = []

    def call() -> None:
        try:
            calls.call(600, re.match, *ENDLESS)
        except AbandonedError as error:
            ended.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    while not calls._busy:
        pass
    calls.close()
    thread.join()
    assert ended
    with pytest.raises(AbandonedError):
        calls.call(10, math.factorial, 3)


async def test_what_is_done_beside_the_loop_leaves_it_its_turns(calls: IsolatedCalls) -> None:
    turns = 0

    def search() -> None:
        calls.call(0.5, re.match, *ENDLESS)

    work = asyncio.ensure_future(calls.beside(search))
    while not work.done():
        await asyncio.sleep(0.001)
        turns += 1
    with pytest.raises(TookTooLongError):
        await work
    assert turns > 20


@pytest.mark.parametrize("size", [1, 5_000_000])  # of the larger one not even the call is taken
def test_a_process_that_stands_still_holds_no_caller(
    calls: IsolatedCalls, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(module, "_STANDSTILL", struct.pack("@ll", 0, 100_000))
    calls.call(10, math.factorial, 3)
    monkeypatch.setattr(module, "_STARTED_S", 0.1)
    [kept] = processes()
    kept.suspend()
    with pytest.raises(TookTooLongError):
        calls.call(0.001, len, b"x" * size)
    assert processes() == []
