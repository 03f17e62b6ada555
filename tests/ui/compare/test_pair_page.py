"""A case as both sides answered it, line by line."""

from dataclasses import replace
from pathlib import Path

from rich.cells import cell_len

from tests import hostile
from tests.hostile import CONTROLS
from tests.reports.filled import ERROR, FAIL, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.comparison.flips import Flip
from tui_eval.reports.comparison.pairing import PairedColumns
from tui_eval.ui.compare.compared_texts import ComparedTrials, compared_trials
from tui_eval.ui.compare.comparison_reading import ComparedSides
from tui_eval.ui.compare.pair_page import PairLooks, pair_paras
from tui_eval.ui.compare.sources import RunSource
from tui_eval.ui.expected_values import ExpectedValue
from tui_eval.ui.text.prose import lay_out
from tui_eval.ui.theme.glyphs import UNICODE

LOOKS = PairLooks(81, 40, ("A one", "B other"))


def pair(store: Path, a: Told, b: Told) -> ComparedTrials:
    """Read a case of two runs."""
    runs = [fill(store, Plan({"gpt": [told]}, cases(1))) for told in (a, b)]
    sides = ComparedSides(RunSource(runs[0]), RunSource(runs[1]))
    columns = PairedColumns("gpt", "gpt", 0, 0, 0, 0, 0, 0)
    with reading(store) as db:
        return compared_trials(db, sides, columns, Flip("case-0", 0, 1.0, 0.0, 0), None)


def lines(of: ComparedTrials, looks: PairLooks = LOOKS) -> list[str]:
    return [line.text for line in lay_out(pair_paras(of, looks, UNICODE), looks.width)]


def test_both_sides_stand_beside_each_other_in_their_own_halves(tmp_path: Path) -> None:
    long = "word " * 30
    shown = lines(pair(tmp_path / "store.db", Told(text=long), Told(FAIL, text="London")))
    at = next(line.index("│") for line in shown if "│" in line)
    beside = [line for line in shown if len(line) > at and line[at] == "│"]
    assert beside[0].split("│")[0].strip() == "A one  ✓ pass"
    assert beside[0].split("│")[1].strip() == "B other  ✗ fail"
    assert sum(line.split("│")[0].count("word") for line in beside) == 30
    assert [line.split("│")[1].strip() for line in beside].count("London") == 1
    assert any("got 'London'" in line.split("│")[1] for line in beside)
    for half in (0, 1):  # each scorer once
        assert sum("exact" in line.split("│")[half] for line in beside) == 1


def test_what_has_no_output_says_why(tmp_path: Path) -> None:
    shown = lines(pair(tmp_path / "store.db", Told(), ERROR))
    assert any("timeout: no answer within 300 s" in line for line in shown)
    assert any("No output (error)" in line for line in shown)


def test_a_long_question_is_cut_until_all_of_it_is_wanted(tmp_path: Path) -> None:
    found = pair(tmp_path / "store.db", Told(), Told(FAIL))
    asked = replace(
        found,
        question="\n".join(f"line {n}" for n in range(80)),
        expected=(ExpectedValue("exact", "", ("Paris",)), ExpectedValue("two", "", ("Paris",))),
    )
    shown = lines(asked)
    assert len(shown) == LOOKS.height  # nothing is cut beside empty lines
    assert any(line.endswith("more lines; m shows all") for line in shown)
    assert "Expected  Paris" in shown
    whole = lines(asked, replace(LOOKS, whole=True))
    assert "          line 79" in whole
    assert len(lines(asked, replace(LOOKS, height=9))) == 9
    low = lines(asked, replace(LOOKS, height=4))
    assert low[:3] == [
        "Question  line 0",
        "          … 79 more lines; m shows all",
        "Expected  Paris",
    ]
    assert "" not in low


def test_no_text_leaves_its_half_or_acts(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    found = pair(store, Told(), Told(FAIL))
    assert found.a.shown is not None
    assert found.a.shown.output is not None
    for text in hostile.outputs():
        output = replace(found.a.shown.output, text=text)
        strange = replace(
            found,
            question=text,
            a=replace(found.a, shown=replace(found.a.shown, output=output)),
            expected=(ExpectedValue("exact", "", (text,)),),
        )
        for line in lines(strange):
            assert not CONTROLS & set(line)
            assert cell_len(line) <= LOOKS.width
