"""What is said of how a run's columns differ."""

from pathlib import Path

from tests.reports.filled import FAIL, OPEN, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.ui.run.figures import count_differences


def words(store: Path, one: str, two: str) -> str:
    """Give what stands beside the second column; the figures say which cases pass."""
    stands = {"1": Told(), "0": Told(FAIL), ".": OPEN}
    told = {name: [stands[each] for each in of] for name, of in {"one": one, "two": two}.items()}
    run = fill(store, Plan(told, cases(len(one))))
    with reading(store) as db:
        return count_differences(db, run).by_column[1].words


def test_while_a_run_goes_on_few_pairs_are_counted_and_no_difference_is_told(store: Path) -> None:
    assert words(store, "1" * 40, "10" + "." * 38) == "2 pairs so far"
    assert words(store, "1" * 40, "10" * 10 + "." * 20) == "-50.0 so far"
    assert words(store, "11", "10").startswith("-50.0 unclear")
