"""What the Suites screen and Launch are made of."""

import os
from pathlib import Path

import pytest

from tests.support import reading
from tests.ui.playing import finished, made_up, plain_run
from tui_eval.engine.settings import Settings
from tui_eval.store.errors import StoreError
from tui_eval.ui.suites import shelf
from tui_eval.ui.suites.book import Book
from tui_eval.ui.suites.launching import Form, FormError, Outlook, launch, outlook, outlook_lines
from tui_eval.ui.suites.preview import preview

GOOD = """
name = "good"
description = "Two sums."
[prompt]
system = "Digits only."
user = "{{ q }}"
[[targets]]
name = "somewhere"
base_url = "http://127.0.0.1:9/v1"
model = "some-model"
[[scorers]]
kind = "exact"
expected = "{{ a }}"
[[scorers]]
kind = "regex"
name = "digits"
expected = "^[0-9]+$"
required = false
[[cases]]
id = "one"
q = "1+1?"
a = "2"
tags = ["easy"]
[[cases]]
id = "two"
q = "2+2?"
a = "4"
"""


def write(folder: Path, name: str, text: str = GOOD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(text)
    return file


def words(entry: shelf.Entry, index: int = 0) -> str:
    if entry.suite is None:
        return "\n".join(para.text for para in preview(entry, None, None))
    book = Book(entry)
    return "\n".join(
        f"{para.label} {para.text}" for para in preview(entry, book.leaf(index), book.survey())
    )


def test_what_is_named_comes_first_and_the_samples_last(tmp_path: Path) -> None:
    named = write(tmp_path / "far", "zebra.toml")
    write(tmp_path / "near", "apple.toml")
    places = list(shelf.found([named, tmp_path / "near", tmp_path / "gone"]))
    assert [path.name for path, _ in places[:2]] == ["zebra.toml", "apple.toml"]
    assert [sample for _, sample in places[:2]] == [False, False]
    assert len(places) > 3
    assert all(sample for _, sample in places[2:])


def test_without_a_path_it_is_the_current_folder(tmp_path: Path) -> None:
    write(tmp_path, "here.toml")
    assert next(iter(shelf.found([])))[0].name == "here.toml"


def test_a_suite_is_read_with_its_cases_counted(tmp_path: Path) -> None:
    entry = shelf.read(write(tmp_path, "good.toml"), False)
    assert entry.suite is not None
    assert (entry.name, entry.cases, entry.trouble, entry.unready) == ("good", 2, (), ())


def test_mistakes_are_kept_in_full(tmp_path: Path) -> None:
    text = GOOD.replace('kind = "exact"', 'kind = "exactly"').replace("name = 3", "")
    entry = shelf.read(write(tmp_path, "bad.toml", text), False)
    assert entry.suite is None
    assert not entry.wants_trust
    assert "bad.toml, line" in entry.trouble[0]
    assert "1 mistake; e opens the file" in words(entry)
    assert entry.trouble[0] in words(entry)


def test_a_suite_that_wants_trust_says_how_to_run_it(tmp_path: Path) -> None:
    text = GOOD.replace("http://127.0.0.1:9/v1", "https://example.org/v1").replace(
        'model = "some-model"', 'model = "m"\napi_key_env = "OPENAI_API_KEY"'
    )
    entry = shelf.read(write(tmp_path, "keen.toml", text), False)
    assert entry.wants_trust
    assert "OPENAI_API_KEY" in words(entry)
    assert f"tui-eval run {entry.path} --trust" in words(entry)


def test_a_missing_key_is_told_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = GOOD.replace('base_url = "http://127.0.0.1:9/v1"', 'provider = "openai"')
    entry = shelf.read(write(tmp_path, "keyed.toml", text), False)
    assert entry.suite is not None
    assert "OPENAI_API_KEY" in entry.unready[0]
    assert "OPENAI_API_KEY" in words(entry)


def test_a_change_beside_or_below_the_suite_is_noticed(tmp_path: Path) -> None:
    file = write(tmp_path, "good.toml")
    below = write(tmp_path / "parts", "prompt.md", "hello")
    for path in (file, below):
        os.utime(path, (1000, 1000))
    entry = shelf.read(file, False)
    assert shelf.changed([entry]) == []
    os.utime(below, (2000, 2000))
    assert shelf.changed([entry]) == [entry]


def test_the_preview_shows_what_would_be_asked(tmp_path: Path) -> None:
    entry = shelf.read(write(tmp_path, "good.toml"), False)
    first = words(entry)
    assert "2 cases × 1 target = 2 trials" in first
    assert "2 calls at most" in first
    assert "Case 1: one  easy  (] next)" in first
    assert "system    Digits only." in first
    assert "user      1+1?" in first
    assert "exact: expected {{ a }}" in first
    assert "digits (regex): expected ^[0-9]+$, reported only" in first
    assert "somewhere: model some-model at http://127.0.0.1:9/v1" in first
    assert "user      2+2?" in words(entry, 1)


def test_paging_stops_at_the_last_case(tmp_path: Path) -> None:
    book = Book(shelf.read(write(tmp_path, "good.toml"), False))
    leaf = book.leaf(10)
    assert (leaf.index, leaf.last) == (1, True)
    assert leaf.case is not None
    assert leaf.case.id == "two"
    assert not book.leaf(0).last


def test_bad_data_is_told_in_the_preview(tmp_path: Path) -> None:
    text = GOOD.split("[[cases]]")[0] + '[dataset]\npath = "rows.jsonl"\n'
    file = write(tmp_path, "data.toml", text)
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "q": "x", "a": "y"}\n{nonsense\n')
    entry = shelf.read(file, False)
    assert entry.cases is None
    assert "rows.jsonl, line 2" in words(entry)


def test_an_undefined_name_is_told_at_its_case(tmp_path: Path) -> None:
    text = GOOD.replace('q = "2+2?"', 'question = "2+2?"')
    entry = shelf.read(write(tmp_path, "holes.toml", text), False)
    assert "cannot be rendered" in words(entry, 1)


# -- the form


def test_empty_fields_leave_it_to_the_suite() -> None:
    assert Form(("a", "b"), True).settings() == Settings()


def test_fields_become_settings() -> None:
    form = Form(
        ("b",),
        False,
        cases="x, y ,",
        tags="t",
        limit=" 5",
        epochs="2",
        concurrency="7",
        cache=False,
    )
    assert form.settings() == Settings(
        targets=("b",),
        cases=("x", "y"),
        tags=("t",),
        limit=5,
        epochs=2,
        concurrency=7,
        fresh=True,
    )


@pytest.mark.parametrize(
    ("form", "field"),
    [
        (Form((), False), "target"),
        (Form(("a",), True, limit="0"), "limit"),
        (Form(("a",), True, epochs="two"), "epochs"),
        (Form(("a",), True, concurrency="-1"), "at once"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(form: Form, field: str) -> None:
    with pytest.raises(FormError, match=field):
        form.settings()


def said(found: Outlook | None) -> str:
    return "\n".join("".join(piece.text for piece in line) for line in outlook_lines(found))


async def test_the_account_says_what_is_there_already(store: Path, tmp_path: Path) -> None:
    suite = made_up(6, targets=[{"kind": "simulated", "name": "one", "answers": ["{{ a }}"]}])
    await finished(store, suite)
    entry = shelf.Entry(tmp_path / "s.toml", suite, (), False, (), 6, False, 0.0)
    with reading(store) as db:
        found = outlook(db, entry, Settings())
        assert "6 trials: 6 reusable · 0 stale · 0 new · 0 removed" in said(found)
        assert "0 outputs to be got" in said(found)
        fresh = outlook(db, entry, Settings(epochs=2))
        assert "12 trials: 6 reusable" in said(fresh)
        none = outlook(db, entry, Settings(cases=("nobody",)))
        assert none.trouble == "no case is like that"
    assert said(None).startswith("counting")


def test_a_missing_key_refuses_the_launch(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    text = GOOD.replace('base_url = "http://127.0.0.1:9/v1"', 'provider = "openai"')
    entry = shelf.read(write(tmp_path, "keyed.toml", text), False)
    plain_run(store, 1)
    with reading(store) as db:
        found = outlook(db, entry, Settings())
    assert found.account is None
    assert "OPENAI_API_KEY" in str(found.trouble)


def test_a_store_that_cannot_be_used_is_an_error_of_the_store(tmp_path: Path) -> None:
    entry = shelf.read(write(tmp_path, "good.toml"), False)
    (tmp_path / "damaged.db").write_text("this is no database, but long enough to be one" * 20)
    with pytest.raises(StoreError):
        launch(tmp_path / "damaged.db", entry, Settings())
