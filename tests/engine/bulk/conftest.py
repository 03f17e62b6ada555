import pytest

from tui_eval.targets.model import model_bulk


@pytest.fixture(autouse=True)
def _listed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait until a batch is listed: the simulated provider lists it at once."""
    monkeypatch.setattr(model_bulk, "SETTLE_S", 0.0)
