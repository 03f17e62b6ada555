"""One call in a process of its own."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tui_eval.isolated.one_call import OneCall, OneCallError, call_once

MODULE = """
import os, sys, time
def add(x, y): print("noise", flush=True); return {"sum": x + y}
async def later(x): return x
def broken(): raise ValueError("no")
def leaves(): os._exit(3)
def hangs(): time.sleep(600)
def odd(): return object()
def sees(): return [sorted(os.environ), sys.path, os.getcwd()]
"""


def called(folder: Path, function: str, timeout_s: float = 30.0, **kwargs: Any) -> Any:
    (folder / "acme_calls.py").write_text(MODULE, "utf-8")
    return call_once(
        OneCall("acme_calls", function, [str(folder), *sys.path], folder, timeout_s), kwargs
    )


def test_it_returns_what_the_function_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert called(tmp_path, "add", x=1, y=2) == {"sum": 3}
    assert called(tmp_path, "later", x="x" * 300_000) == "x" * 300_000
    environ, path, folder = called(tmp_path, "sees")
    assert "OPENAI_API_KEY" not in environ
    assert (path[0], folder) == (str(tmp_path), str(tmp_path))


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("broken", "ValueError: no"),
        ("leaves", "its process has ended in the call"),
        ("odd", "what it returned is of type object, which is not JSON"),
        ("none", "acme_calls has no none; it has"),
    ],
)
def test_whatever_goes_wrong_is_told(tmp_path: Path, function: str, why: str) -> None:
    with pytest.raises(OneCallError, match=why):
        called(tmp_path, function)


def test_what_does_not_come_back_is_ended(tmp_path: Path) -> None:
    with pytest.raises(OneCallError, match=r"took longer than 0\.5 s"):
        called(tmp_path, "hangs", timeout_s=0.5)
