"""What a suite would ask, case by case, and what is wrong with it."""

from pathlib import Path

from tests.ui.suites.making import GOOD, connect_nowhere, made, words, write
from tui_eval.ui.suites import suite_list
from tui_eval.ui.suites.case_book import CaseBook
from tui_eval.ui.suites.preview import PreviewState, preview


def test_mistakes_are_kept_in_full(tmp_path: Path) -> None:
    text = GOOD.replace('kind = "exact"', 'kind = "exactly"').replace("name = 3", "")
    entry = suite_list.read(write(tmp_path, "bad.toml", text), False)
    assert entry.suite is None
    assert not entry.wants_trust
    assert "bad.toml, line 12" in entry.mistake_lines[0]
    assert entry.where() == (entry.path, 12)
    assert "1 mistake; e opens the file at line 12" in words(entry)
    assert entry.mistake_lines[0] in words(entry)


def test_what_judges_are_asked_about_a_case_needs_that_case_alone(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(f'{{"id": "c{n}", "q": "q{n}", "a": "{n}"}}\n' for n in range(40)))
    text = GOOD[: GOOD.index("[[cases]]")] + (
        '[dataset]\npath = "data.jsonl"\n[[scorers]]\nkind = "judge"\nname = "good"\n'
        'rubric = "Is it {{ a }}?"\nscale = [0, 1]\n[judge]\nkind = "simulated"\n'
    )
    book = CaseBook(suite_list.read(write(tmp_path, "large.toml", text), False))
    case = book.leaf(30).case
    assert case is not None
    data.unlink()  # whoever read it again would find nothing
    (asked,) = book.judged(connect_nowhere(), case)
    assert (asked.case, asked.scorer, asked.real) == ("c30", "good", False)
    assert "Is it 30?" in str(asked.body)


def test_the_preview_shows_what_would_be_asked(tmp_path: Path) -> None:
    entry = suite_list.read(write(tmp_path, "good.toml"), False)
    first = words(entry)
    assert "2 cases × 1 target = 2 trials" in first
    assert "2 calls at most" in first
    assert "Case 1  easy  (] next)" in first
    assert "system    Digits only." in first
    assert "user      1+1?" in first
    assert "expected exact: 2" in first, "the case's own"
    assert "exact: expected {{ a }}" in first
    assert "digits (regex): expected ^[0-9]+$, reported only" in first
    assert "somewhere: model some-model at http://127.0.0.1:9/v1" in first
    assert "user      2+2?" in words(entry, 1)
    assert "expected exact: 4" in words(entry, 1)


def test_what_judges_are_asked_is_no_part_of_what_targets_cost(tmp_path: Path) -> None:
    text = GOOD.replace(
        "[[cases]]",
        '[[scorers]]\nkind = "judge"\nname = "good"\nrubric = "Is it right?"\nscale = [0, 1]\n'
        '[judge]\nbase_url = "https://models.example.com/v1"\nmodel = "new"\nrepeats = 3\n'
        "[[cases]]",
        1,
    )
    shown = words(suite_list.read(write(tmp_path, "judged.toml", text), False))
    assert "targets: 2 calls at most, " in shown
    assert "judges: 6 grades at most; enter counts their calls, tokens and cost" in shown


def test_what_differences_its_cases_show_stands_behind_all_that_would_be_asked(
    tmp_path: Path,
) -> None:
    entry = suite_list.read(write(tmp_path, "good.toml"), False)
    known = PreviewState(CaseBook(entry).leaf(0), shows="2 cases show nothing")
    shown = [para.text for para in preview(entry, known, 0.0).paras]
    assert shown[-1] == "2 cases show nothing"
    assert any(text.startswith("somewhere") for text in shown[:-1])


def test_paging_stops_at_the_last_case(tmp_path: Path) -> None:
    book = CaseBook(suite_list.read(write(tmp_path, "good.toml"), False))
    leaf = book.leaf(10)
    assert (leaf.index, leaf.last) == (1, True)
    assert leaf.case is not None
    assert leaf.case.id == "two"
    assert not book.leaf(0).last


def test_bad_data_is_told_in_the_preview(tmp_path: Path) -> None:
    text = GOOD.split("[[cases]]")[0] + '[dataset]\npath = "rows.jsonl"\n'
    file = write(tmp_path, "data.toml", text)
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "q": "x", "a": "y"}\n{nonsense\n')
    entry = suite_list.read(file, False)
    assert entry.cases is None
    assert "rows.jsonl, line 2" in words(entry)


def test_an_undefined_name_is_told_at_its_case(tmp_path: Path) -> None:
    text = GOOD.replace('q = "2+2?"', 'question = "2+2?"')
    entry = suite_list.read(write(tmp_path, "holes.toml", text), False)
    assert "cannot be rendered" in words(entry, 1)


def test_a_mistake_in_the_data_is_opened_there(tmp_path: Path) -> None:
    text = GOOD.split("[[cases]]")[0] + '[dataset]\npath = "rows.jsonl"\n'
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "q": "x", "a": "y"}\n{nonsense\n')
    entry = suite_list.read(write(tmp_path, "data.toml", text), False)
    assert entry.where() == (tmp_path / "rows.jsonl", 2)
    assert "e opens rows.jsonl at line 2" in words(entry)


def test_the_question_of_a_case_is_pointed_out_behind_its_examples(tmp_path: Path) -> None:
    text = GOOD.replace(
        "[[targets]]",
        """[prompt.examples]
assistant = "{{ a }}"
rows = [{ q = "5+5?", a = "10" }, { q = "6+6?", a = "12" }]
[[targets]]""",
    )
    entry = suite_list.read(write(tmp_path, "shots.toml", text), False)
    assert entry.usable, entry.mistake_lines
    for index, question in ((0, "1+1?"), (1, "2+2?")):
        shown = made(entry, index)
        assert shown.question is not None
        assert shown.paras[shown.question].text == question
        examples = [para for para in shown.paras if para.text in ("5+5?", "10", "6+6?", "12")]
        assert [para.tone for para in examples] == ["dim"] * 4


def test_the_request_to_a_judge_is_shown(tmp_path: Path) -> None:
    text = GOOD.replace(
        "[[cases]]",
        """[[scorers]]
kind = "judge"
name = "polite"
requirements = ["Is polite"]
[judge]
kind = "simulated"
[[cases]]""",
        1,
    )
    entry = suite_list.read(write(tmp_path, "judged.toml", text), False)
    assert entry.usable, entry.mistake_lines
    told = words(entry)
    assert "What the judge is asked for polite about somewhere" in told
    assert "Is polite" in told
    assert "the output is not there yet" in told
