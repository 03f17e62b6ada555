"""A suite that a run keeps and this version cannot read is an error with words, not a crash."""

from pathlib import Path

import pytest

from tests.support import reading
from tests.ui.playing import plain_run
from tui_eval.store.errors import StoreError
from tui_eval.suites.frozen_suite import UnreadableSuiteError, frozen_suite, readable_suite


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    run = plain_run(store).run
    with reading(store) as db:
        with pytest.raises(UnreadableSuiteError) as raised:
            frozen_suite(db, run)
        assert readable_suite(db, run) is None
    assert isinstance(raised.value, StoreError)
    assert "run by-hand" in str(raised.value)
    assert "name: Field required (and 1 more)" in str(raised.value)
