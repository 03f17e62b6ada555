"""Reports whose beginning is known last, where there is no room for temporary files."""

import tempfile
from pathlib import Path

import pytest

from tests.reports.filled import FAIL, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.formats import FORMATS
from tui_eval.reports.exports.put_aside import PutAsideError, put_aside
from tui_eval.reports.exports.whole_file import to_file
from tui_eval.store.read import run_queries


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Path("/dev/full")
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda *_, **__: device.open("w"))


def test_what_is_put_aside_is_read_from_its_beginning() -> None:
    with put_aside() as aside:
        aside.write("naïve\r\n")
        aside.write("x" * 200_000)
        assert "".join(aside.pieces()) == "naïve\r\n" + "x" * 200_000


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("name", ["junit", "ctrf"])
def test_no_room_for_temporary_files_is_told_with_their_folder(tmp_path: Path, name: str) -> None:
    run = fill(tmp_path / "store.db", Plan({"gpt": [Told(), Told(FAIL)]}, cases(2)))
    file = tmp_path / "report"
    file.write_text("what was there", "utf-8")
    with reading(tmp_path / "store.db") as db:
        pieces = FORMATS[name](db, run_queries.run(db, run), ExportChoice())
        with pytest.raises(PutAsideError) as raised:
            to_file(file, pieces)
    assert raised.value.filename == tempfile.gettempdir()
    assert raised.value.strerror is not None
    assert "No space left on device, for temporary files; TMPDIR names" in raised.value.strerror
    assert file.read_text("utf-8") == "what was there"
    assert [*tmp_path.glob(".report*")] == []


def test_a_folder_that_is_not_there_is_told_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere/at/all")
    with pytest.raises(PutAsideError, match="TMPDIR"), put_aside():
        pass
