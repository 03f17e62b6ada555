"""Running a benchmark with tiny numbers."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

Figures = dict[str, list[dict[str, Any]]]


@pytest.fixture
def measured(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Figures]:
    """Run a benchmark's main, and give its figures out of the one document it prints."""
    monkeypatch.delenv("TUI_EVAL_STORE", raising=False)

    def run(main: Callable[[Sequence[str]], int], *arguments: str) -> Figures:
        assert main([*arguments, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert set(document) == {"benchmark", "conditions", "settings", "figures", "load"}
        figures: Figures = document["figures"]
        assert figures
        assert all(figures.values())
        return figures

    return run
