"""What is known of a run, held once; and who does what its keys ask for."""

from pathlib import Path

from tests.support import reading
from tests.ui.playing import app_on, plain_run, run_screen, shown_on
from tui_eval.ui.run.figures import Figures, count_figures
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot, snapshot


def test_watchers_are_called_at_once_for_their_parts_alone_and_in_order(store: Path) -> None:
    made = plain_run(store, 3)
    with reading(store) as db:
        first, figures = snapshot(db, made.run, -1, []), count_figures(db, made.run)
    run = ObservedRun(made.run)
    told: list[str] = []
    run.watch(lambda: told.append(f"a {run.snapshot is first}"), Snapshot)
    run.watch(lambda: told.append(f"b {run.figures is figures}"), Snapshot, Figures)
    run.update(first)
    assert told == ["a True", "b False"]
    run.update(figures)
    assert told == ["a True", "b False", "b True"]
    assert run.results is None
    run.update(first, figures)  # read together: derived once
    assert told[3:] == ["a True", "b True"]


async def test_every_key_of_the_run_screen_has_a_method_on_the_node_it_is_bound_to(
    store: Path,
) -> None:
    plain_run(store, 3)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        for node in (screen, screen.pane):
            assert node.BINDINGS
            for binding in node.BINDINGS:
                name = binding.action.partition("(")[0]  # type: ignore[union-attr]
                assert callable(getattr(node, f"action_{name}", None)), (node, name)
