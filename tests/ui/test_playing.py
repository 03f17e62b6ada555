"""The tests' own waits: what they say when nothing comes."""

from pathlib import Path

import pytest

from tests.ui import playing
from tests.ui.playing import app_on, shown_on, until, until_shown


async def test_a_wait_for_nothing_says_what_is_shown_instead(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shown_on(app_on(store)) as pilot:
        await until_shown(pilot, "No suite here")
        monkeypatch.setattr(playing, "_POLLS", 3)
        with pytest.raises(AssertionError, match=r"(?s)'never'.*SuitesScreen.*No suite here"):
            await until_shown(pilot, "never")


async def test_a_wait_is_over_where_the_app_has_ended(store: Path) -> None:
    async with shown_on(app_on(store)) as pilot:
        await until_shown(pilot, "No suite here")
        pilot.app.exit()
        with pytest.raises(AssertionError, match="the app has ended"):
            await until(pilot, lambda: False)
