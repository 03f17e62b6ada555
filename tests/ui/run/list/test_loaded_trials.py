"""The rows of a list: read as they are shown, kept, and read again where they changed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from tests.support import do, output, writing
from tests.ui.playing import by_hand, plain_run
from tests.ui.run.list.making import FAILED
from tui_eval.model.case import Case
from tui_eval.model.states import TrialState
from tui_eval.store.search.case_conditions import EarlierResult, EarlierRun
from tui_eval.store.search.views import Order, View
from tui_eval.store.write.people import notes
from tui_eval.ui.run.list.loaded_trials import PAGE, LoadedTrials
from tui_eval.ui.run.list.view_lookup import ViewLookup
from tui_eval.ui.store_access.store_client import StoreClient


@asynccontextmanager
async def opened(store: Path) -> AsyncIterator[StoreClient]:
    client = StoreClient(store)
    await client.open()
    try:
        yield client
    finally:
        await client.close()


async def test_the_list_reads_the_pages_it_shows_and_keeps_them(store: Path) -> None:
    made = plain_run(store, 350)
    async with opened(store) as client:
        trials = LoadedTrials(client, made.run)
        trials.set_total(350)
        assert trials.row_at(5) is None
        assert await trials.read(range(3, 20))
        row = trials.row_at(5)
        assert row is not None
        assert row.case_id == "case-005"
        assert trials.row_at(PAGE - 1) is not None
        assert trials.row_at(PAGE) is None
        assert trials.reason(row) is None
        failed = trials.row_at(7)
        assert failed is not None
        assert trials.reason(failed) == "exact: expected 7"
        assert not await trials.read(range(3, 20))
        assert await trials.read(range(95, 105))
        assert trials.row_at(PAGE + 4) is not None


async def test_what_ids_have_in_common_is_looked_for_in_all_of_a_run(store: Path) -> None:
    cases = [Case(i, f"set-{'one' if i < 400 else 'two'}-{i:03}", {}) for i in range(600)]
    made = by_hand(store, cases, answers=[None] * 600)
    async with opened(store) as client:
        trials = LoadedTrials(client, made.run)
        trials.set_total(600)
        assert await trials.read(range(10))
        assert trials.seen.ids.shortened("set-one-001", 8, "…") == "…one-001"


async def test_a_narrowed_list_knows_places_and_indices(store: Path) -> None:
    made = plain_run(store, 50, failing=(3, 7, 40))
    async with opened(store) as client:
        trials, lookup = LoadedTrials(client, made.run), ViewLookup(client, made.run)

        async def use(view: View) -> None:
            async for listed in lookup.lists(view):
                trials.use(view, listed)

        trials.set_total(50)
        await use(View((FAILED,)))
        assert trials.count == 3
        assert [trials.place_at(index) for index in range(4)] == [3, 7, 40, None]
        assert trials.index_of(7) == 1
        assert trials.index_of(8) is None
        assert trials.nearest(8, 0) == 2
        assert trials.nearest(49, 0) == 2
        await use(View((FAILED,), order=Order.LATENCY))
        assert [trials.place_at(index) for index in range(3)] == [40, 7, 3]
        assert trials.index_of(3) == 2
        assert trials.nearest(8, 1) == 1
        assert await trials.next_unmet(40, back=False) == 7
        assert await trials.next_unmet(40, back=True) == 3
        await use(View(text="answer 4", order=Order.PLACE, reverse=True))
        assert [trials.place_at(index) for index in range(3)] == [49, 48, 47]
        assert await trials.next_unmet(45, back=False) == 40
        assert await trials.next_unmet(45, back=True) == 40
        await use(View())
        assert trials.count == 50
        assert await trials.next_unmet(7, back=False) == 40


async def test_changed_rows_replace_those_that_were_read(store: Path) -> None:
    made = plain_run(store, 10)
    async with opened(store) as client:
        trials = LoadedTrials(client, made.run)
        trials.set_total(10)
        await trials.read(range(10))
        old = trials.row_at(2)
        assert old is not None
        new = replace(old, state=TrialState.QUEUED, verdict=None)
        stranger = replace(old, place=700)
        assert trials.take([new, stranger], {}) == [2]
        assert trials.row_at(2) == new
        assert trials.take([old], {}) == [2]  # as new as that: a note changes no number
        assert trials.row_at(2) == old


async def test_what_a_case_was_before_changes_the_rows_of_all_its_epochs(store: Path) -> None:
    made = plain_run(store, 10)
    async with opened(store) as client:
        trials = LoadedTrials(client, made.run)
        trials.set_total(10)
        await trials.read(range(10))
        first, other = trials.row_at(2), trials.row_at(5)
        assert first is not None
        assert other is not None
        trials.take([replace(other, seq=first.seq, epoch=1)], {})
        was = {(first.seq, first.col): EarlierResult(1, 2, worse=True)}
        assert trials.take([first], {}, was) == [2, 5]
        assert trials.take([first], {}, was) == [2], "nothing is another beside them"
        assert trials.take([first], {}, {}) == [2, 5]


async def test_rows_that_may_have_changed_are_shown_until_they_have_been_read_again(
    store: Path,
) -> None:
    made = plain_run(store, 250)
    client = StoreClient(store)
    await client.open()

    def note(place: int, text: str) -> None:
        with writing(store) as db:
            do(db, lambda tx: notes.write(tx, {made.trials[place]: text}))

    def shown(index: int) -> str | None:
        row = trials.row_at(index)
        return None if row is None else row.note or ""

    try:
        trials = LoadedTrials(client, made.run)
        trials.set_total(250)
        await trials.read(range(150))
        note(2, "new")
        trials.doubt(range(10))
        assert (shown(2), shown(30), shown(120)) == ("", None, None)
        assert await trials.read(range(10))
        assert (shown(2), shown(30), shown(120)) == ("new", "", None)
        assert not await trials.read(range(10))
        # what becomes doubtful while it is being read is read again
        trials.doubt(range(10))
        reading = asyncio.create_task(trials.read(range(10)))
        await asyncio.sleep(0)
        trials.doubt(range(10))
        assert await reading
        note(3, "newer")
        assert await trials.read(range(10))
        assert shown(3) == "newer"
        # and what was read before something newer came does not replace it
        row = trials.row_at(4)
        assert row is not None
        newer = replace(row, change=row.change + 1, state=TrialState.QUEUED)
        trials.doubt(range(10))
        reading = asyncio.create_task(trials.read(range(10)))
        await asyncio.sleep(0)
        trials.take([newer], {})
        await reading
        assert trials.row_at(4) == newer
    finally:
        await client.close()


async def test_rows_that_come_after_they_are_to_be_compared_are_read_again(store: Path) -> None:
    """The first rows were asked for before it was known which run is the earlier one."""
    before, made = plain_run(store, 10, failing=()), plain_run(store, 10, failing=(3,))
    async with opened(store) as client:
        trials = LoadedTrials(client, made.run)
        trials.set_total(10)
        reading = asyncio.ensure_future(trials.read(range(10)))
        await asyncio.sleep(0)  # it has asked
        assert trials.compare_with(EarlierRun(before.run, "earlier", is_base=False), range(10))
        assert await reading
        assert await trials.read(range(10))
        row = trials.row_at(3)
        assert row is not None
        assert trials.earlier(row) == EarlierResult(1, 1, worse=True)
        assert not await trials.read(range(10))


async def test_the_only_scorer_of_a_run_is_not_named_beside_each_reason(store: Path) -> None:
    cases = [Case(i, f"c{i}", {}) for i in range(2)]
    spec = '{"scorers": [{"name": "exact", "kind": "exact"}]}'
    made = by_hand(
        store, cases, answers=[output("a"), output("b")], reasons=["expected x"], spec=spec
    )
    async with opened(store) as client:
        trials = LoadedTrials(client, made.run)
        trials.set_total(2)
        await trials.read(range(2))
        failed = trials.row_at(0)
        assert failed is not None
        assert trials.reason(failed) == "expected x"
