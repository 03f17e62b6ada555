"""Which trials a view lists, told while they are looked for."""

from pathlib import Path

import pytest

from tests.ui.playing import plain_run
from tui_eval.store.search import text_search
from tui_eval.store.search.views import View
from tui_eval.ui.run.list import view_lookup as lookup_module
from tui_eval.ui.run.list.view_lookup import ViewLookup
from tui_eval.ui.store_access.store_client import StoreClient


async def test_a_search_is_shown_while_it_goes_on(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = plain_run(store, 50)
    for name, value in (("_LOOK", 5), ("_STEP_S", 0.0)):
        monkeypatch.setattr(text_search, name, value)
    monkeypatch.setattr(lookup_module, "_SHOWN_S", 0.0)
    client = StoreClient(store)
    await client.open()
    try:
        lookup = ViewLookup(client, made.run)
        seen = [listed async for listed in lookup.lists(View(text="answer 4"))]
        assert seen[-1].going_on is None
        assert list(seen[-1].places or ()) == [4, *range(40, 50)]
        parts = [one for one in seen if one.going_on is not None]
        assert parts
        assert all(one.going_on and one.going_on.total == 50 for one in parts)
        assert {len(one.places or ()) for one in parts} > {1}
        again = [listed async for listed in lookup.lists(View(text="answer 4"))]
        assert [one.going_on for one in again] == [None]
    finally:
        await client.close()
