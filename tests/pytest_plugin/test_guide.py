"""The page about pytest is followed line by line, its sessions in the process of the test."""

import shlex

import pytest

from tests.pytest_plugin.test_hooks import in_this_process
from tests.test_guides import DOCS, steps
from tui_eval.api import launch

pytest_plugins = "pytester"


def test_the_page_can_be_followed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "run", in_this_process)
    said = ""
    for language, text in steps(DOCS / "how-to" / "pytest.md"):
        if language == "sh":
            words = shlex.split(text)
            assert words[:3] == ["python", "-m", "pytest"]
            said = pytester.runpytest_inprocess("-p", "no:asyncio", *words[3:]).stdout.str()
        elif language:
            file = pytester.path / text.partition("\n")[0].removeprefix("# ")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
        else:
            for line in text.splitlines():
                assert line in said
