import pwd
from pathlib import Path

import pytest

from tui_eval.model.home import from_home


def test_a_home_is_found_and_one_that_nobody_knows_stays_as_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/somewhere")
    assert from_home("~/a") == Path("/somewhere/a")
    assert from_home("a~") == Path("a~")
    assert from_home("~nobody-has-it/a") == Path("~nobody-has-it/a")

    def unknown(_: int) -> None:
        raise KeyError("as in a container, for a user of no name")

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert from_home("~") == Path("~")
