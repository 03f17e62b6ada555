import json
import sqlite3
from pathlib import Path

import pytest

from tests.store.fates import finish
from tests.support import ODD_TEXTS, Staged, case, do, new_run, score, staged
from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.store.connection import open_writable
from tui_eval.store.location import find_file
from tui_eval.store.search import text_search
from tui_eval.store.search.search_index import IndexPosition, SearchIndex
from tui_eval.store.search.text_search import SearchLibrary, TextSearch, places_with_hits
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes, trial_moves, trial_verbs
from tui_eval.store.write.run_writes import NewTrial


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    made = staged(db, 5)
    finish(db, made.trials[0], score(), text="Paris")
    finish(db, made.trials[1], score(False), text="100%_sure")
    finish(db, made.trials[2], score(None), text="STRASSE \x00 nul")
    failure = Failure("timeout", "no answer within 300 s")
    do(db, lambda tx: trial_moves.fail_trial(tx, made.trials[3], failure))
    db.execute("UPDATE scores SET reason = 'Expected \"Rome\"' WHERE trial = ?", (made.trials[1],))
    return made


def found(db: sqlite3.Connection, library: SearchLibrary, text: str) -> list[int]:
    search = TextSearch(library, text)
    while search.step(db):
        pass
    assert search.searched == search.total
    return list(places_with_hits(None, search.hits))


@pytest.fixture(params=["from the store", "gathered"])
def library(
    request: pytest.FixtureRequest,
    db: sqlite3.Connection,
    made: Staged,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> SearchLibrary:
    library = SearchLibrary(tmp_path / "store.sqlite3", made.run)
    if request.param == "gathered":
        monkeypatch.setattr(text_search, "GATHERED_FROM", 1)
        found(db, library, "anything")
        gathered = library.gathered(db)
        assert gathered is not None
        assert gathered.matches(b"", 0, 99)[0] == 5
    return library


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("paris", [0]),
        ("PARIS", [0]),
        ("300 s", [3]),
        ("case-4", [4]),
        ("case-", [0, 1, 2, 3, 4]),
        ("100%_", [1]),
        ("100__", []),
        ("%", [1]),
        ("\\", []),
        ('expected "rome"', [1]),
        ('"', [1]),
        ("straße", [2]),
        ("pari* OR rome", []),
        ("case-0paris", []),
        ("case-0\x00paris", []),
        ("\x00", [2]),
        ("';--", []),
    ],
)
def test_text_is_found_to_the_letter_but_for_its_case(
    db: sqlite3.Connection, library: SearchLibrary, text: str, expected: list[int]
) -> None:
    assert found(db, library, text) == expected


@pytest.mark.parametrize("text", [text for text in ODD_TEXTS if text])
@pytest.mark.parametrize("least", [1, 100])
def test_odd_text_is_found_where_it_stands(
    db: sqlite3.Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    least: int,
) -> None:
    monkeypatch.setattr(text_search, "GATHERED_FROM", least)
    run = new_run(db)
    do(db, lambda tx: run_writes.add_cases(tx, run, [Case(0, f"a{text}b", {}), case(1)]))
    do(
        db,
        lambda tx: run_writes.add_trials(tx, run, [NewTrial(i, i, 0, 0, b"k") for i in range(2)]),
    )
    library = SearchLibrary(tmp_path / "store.sqlite3", run)
    for _ in range(2):  # as it is gathered, and from what is gathered
        assert found(db, library, text) == [0]


def test_what_changed_is_found_as_it_is_now(
    db: sqlite3.Connection, library: SearchLibrary, made: Staged
) -> None:
    search = TextSearch(library, "rome")
    while search.step(db):
        pass
    finish(db, made.trials[4], score(), text="in Rome")
    do(db, lambda tx: trial_verbs.retry(tx, made.trials[1]))
    while search.step(db):
        pass
    assert list(places_with_hits(None, search.hits)) == [4]
    assert found(db, library, "rome") == [4]


def test_a_search_that_is_given_up_leaves_what_it_gathered(
    db: sqlite3.Connection, made: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "GATHERED_FROM", 1)
    monkeypatch.setattr(text_search, "_LOOK", 2)
    monkeypatch.setattr(text_search, "_STEP_S", 0.0)
    library = SearchLibrary(tmp_path / "store.sqlite3", made.run)
    first = TextSearch(library, "case-")
    assert first.step(db)
    assert 0 < first.searched < 5
    assert found(db, library, "case-") == [0, 1, 2, 3, 4]


def test_another_run_of_that_name_and_a_damaged_file_are_gathered_anew(
    db: sqlite3.Connection, made: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "GATHERED_FROM", 1)
    store = tmp_path / "store.sqlite3"
    name = db.execute("SELECT name FROM runs").fetchone()[0]
    file = find_file(store, name)
    file.parent.mkdir()
    file.write_bytes(b"no database" * 1000)
    library = SearchLibrary(store, made.run)
    assert found(db, library, "paris") == [0]
    library.close()
    db.execute("UPDATE runs SET created_at = created_at + 1")
    db.execute("UPDATE outputs SET text = 'Oslo' WHERE text = 'Paris'")
    library = SearchLibrary(store, made.run)
    assert found(db, library, "paris") == []
    assert found(db, library, "oslo") == [0]
    library.close()
    assert file.stat().st_mode & 0o077 == 0


def test_where_nothing_can_be_kept_the_store_is_searched(
    db: sqlite3.Connection, made: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "GATHERED_FROM", 1)
    (tmp_path / "find").write_text("in the way")
    library = SearchLibrary(tmp_path / "store.sqlite3", made.run)
    for _ in range(2):
        assert found(db, library, "paris") == [0]


def test_a_store_that_was_put_back_is_searched_as_it_is(
    db: sqlite3.Connection, made: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "GATHERED_FROM", 1)
    earlier = tmp_path / "earlier.sqlite3"
    db.execute("VACUUM INTO ?", (str(earlier),))
    finish(db, made.trials[4], score(), text="Vienna")
    library = SearchLibrary(tmp_path / "store.sqlite3", made.run)
    assert found(db, library, "vienna") == [4]
    library.close()
    back = open_writable(earlier)
    assert found(back, SearchLibrary(tmp_path / "store.sqlite3", made.run), "vienna") == []
    back.close()


def test_hits_keep_the_order_of_a_list() -> None:
    assert list(places_with_hits([4, 9, 1, 2], bytearray([0, 1, 0, 0, 1]))) == [4, 1]


def test_two_that_gather_at_once_never_go_back(tmp_path: Path) -> None:
    one, other = (SearchIndex(tmp_path / "find" / "run.sqlite3", 1.0) for _ in range(2))
    since = one.mark()
    other.add([(0, b"new")], since, IndexPosition(5, 1))
    one.add([(0, b"old")], since, IndexPosition(3, 1))
    assert one.mark() == IndexPosition(5, 1)
    assert one.matches(b"new", 0, 9) == (1, [0])
    one.close()
    other.close()


def test_what_was_asked_is_found_and_what_is_only_expected_is_not(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    run = new_run(db)
    prompts = [{"user": "Name it: {{ q }} {% for o in meta.options %}{{ o }}{% endfor %}"}]
    db.execute("UPDATE runs SET spec = ? WHERE id = ?", (json.dumps({"prompts": prompts}), run))
    fields: JsonObject = {"q": 'a "Würfel"', "answer": "die", "meta": {"options": ["red", 7]}}

    def unit(tx: Tx) -> None:
        run_writes.add_cases(tx, run, [Case(0, "c0", fields), Case(1, "c1", {"text": "free"})])
        run_writes.add_trials(tx, run, [NewTrial(i, i, 0, 0, None) for i in range(2)])

    do(db, unit)
    library = SearchLibrary(tmp_path / "store.sqlite3", run)
    for sought, places in (
        ('"WÜRFEL"', [0]),
        ("red", [0]),
        ("die", []),
        ("name it", []),
        ("free", [1]),  # the prompts name none of its fields: all are looked into
    ):
        assert found(db, library, sought) == places, sought
