from dataclasses import replace

import pytest
from rich.cells import cell_len

from tui_eval.reports.terminal.progress import Progress, SettlingRate, line
from tui_eval.store.read.run_counts import Counts

HALF = Counts(
    total=900, queued=200, running=50, done=640, error=2, passed=460, failed=178, ungraded=2,
    cost_usd=0.83,
)  # fmt: skip
RATE = 460 / 638
BULK = (
    "bulk 0 of 790, 3 consignments, by 11-24 17:30; judge bulk 0 of 250, 97 consignments",
    "bulk 0 of 790; judge bulk 0 of 250",
)


def test_a_line_says_how_far_how_fast_and_how_good() -> None:
    assert line(HALF, [HALF], [RATE], SettlingRate(48.0, 5.4), 42.0, bar=True) == (
        "██████████████░░░░░░  642/900  71%  0:42  48/s  50 in flight  pass 72.1% so far  "
        "2 errors  2 ungraded  $0.83 of about $1.16  about 0:05 left"
    )


def test_what_is_being_scored_is_told_where_there_is_room() -> None:
    scoring = replace(HALF, running=0, scoring=50)
    wide = line(scoring, [scoring], [RATE], None, 42.0, bar=False)
    assert "0 in flight, 50 being scored" in wide
    assert "being scored" not in line(scoring, [scoring], [RATE], None, 42.0, bar=True, width=70)


@pytest.mark.parametrize("width", [*range(60, 140), 20, 30, 40])
def test_where_it_is_narrow_what_matters_least_goes_and_nothing_is_cut(width: int) -> None:
    large = Counts(
        total=100_000, running=1000, done=60_000, error=12_345, passed=460, failed=178,
        ungraded=20_000, cost_usd=1234.5,
    )  # fmt: skip
    for counts, columns, rates in ((HALF, [HALF], [RATE]), (large, [large] * 6, [RATE] * 6)):
        text = line(
            counts, columns, rates, SettlingRate(0.8, 40_000.0), 42_000.0, bar=True, width=width
        )
        assert cell_len(text) <= width
        assert text.endswith(" left")
        whole = line(counts, columns, rates, SettlingRate(0.8, 40_000.0), 42_000.0, bar=True).split(
            "  "
        )
        places = [
            next(at for at, part in enumerate(whole) if part.startswith(shown[:6]))
            for shown in text.split("  ")
        ]
        assert places == sorted(places)


def test_from_60_columns_up_count_rate_spend_and_time_left_are_there() -> None:
    assert line(HALF, [HALF], [RATE], SettlingRate(48.0, 5.4), 42.0, bar=True, width=59) == (
        "642/900  pass 72.1%  2 errors  $0.83  about 0:05 left"
    )
    calm = replace(HALF, error=0, ungraded=0, cost_usd=0.0)
    assert line(calm, [calm], [RATE], SettlingRate(48.0, 5.4), 42.0, bar=True, width=79) == (
        "███████░░░  640/900  71%  48/s  50 in flight  pass 72.1%  about 0:05 left"
    )


def test_what_the_run_will_have_cost_is_worked_out_for_each_target() -> None:
    dear = Counts(total=10, done=6, cached=1, cost_usd=5.0)  # 5 of 9 asked trials: $1 each
    cheap = Counts(total=10, done=2, cancelled=2, cost_usd=0.2)  # 2 of 8: $0.1 each
    both = Counts(total=20, done=8, cached=1, cancelled=2, cost_usd=5.2)
    assert "$5.20 of about $9.80" in line(both, [dear, cheap], [RATE] * 2, None, 0, bar=False)
    unasked = Counts(total=10)  # nobody knows yet what this one takes
    assert "$5.20 of" not in line(both, [dear, cheap, unasked], [RATE] * 3, None, 0, bar=False)
    assert "$5.20" in line(both, [dear, cheap, unasked], [RATE] * 3, None, 0, bar=False)
    over = Counts(total=10, done=10, cost_usd=5.0)
    assert line(over, [over], [RATE], None, 0, bar=False).endswith("$5.00")


def test_rates_of_several_targets_are_not_pooled() -> None:
    rates = [0.5, 1.0, None, 0.0, 0.0]
    assert "pass 50.0% 100.0% – 0.0% +1 so far" in line(HALF, [HALF] * 5, rates, None, 0, bar=False)


def test_unknown_cost_is_said_and_no_cost_is_not() -> None:
    assert "cost unknown" in line(Counts(total=1, cost_usd=None), [], [], None, 0, bar=False)
    assert "cost" not in line(Counts(total=1), [], [], None, 0, bar=False)


@pytest.mark.parametrize(
    ("pace", "said"),
    [(48.0, "48/s"), (9.96, "10/s"), (0.8, "0.8/s"), (0.3, "18/min"), (0.04, "2.4/min")],
)
def test_a_slow_pace_is_told_by_the_minute(pace: float, said: str) -> None:
    told = line(HALF, [HALF], [RATE], SettlingRate(pace, 5.0), 42.0, bar=True)
    assert f"  {said}  " in told


def test_a_terminal_gets_one_line_drawn_anew_within_its_width() -> None:
    written: list[str] = []
    progress = Progress(written.append, lambda: 30)
    progress.update(HALF, [HALF], [RATE], 1.0, now=0.0)
    progress.update(HALF, [HALF], [RATE], 1.0, now=0.05)  # too soon to be seen
    progress.update(HALF, [HALF], [RATE], 1.0, now=0.2)
    progress.clear()
    assert [text[0] for text in written] == ["\r"] * 3
    assert all(len(text.removeprefix("\r").removesuffix("\x1b[K")) <= 29 for text in written)
    assert written[-1] == "\r\x1b[K"


def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    written: list[str] = []
    progress = Progress(written.append, None)
    for tenth in range(250):
        progress.update(HALF, [HALF], [RATE], 1.0, now=tenth / 10)
    assert len(written) == 2
    assert all(text.endswith("\n") and "\r" not in text and "\x1b" not in text for text in written)


def test_what_is_asked_in_bulk_is_told() -> None:
    told = line(HALF, [HALF], [RATE], None, 42.0, bar=False, bulk=BULK)
    assert f"  {BULK[0]}  " in told


@pytest.mark.parametrize("width", [79, 100, 120])
def test_how_far_it_is_stands_beside_what_is_asked_in_bulk(width: int) -> None:
    told = line(HALF, [HALF], [RATE], None, 42.0, bar=True, width=width, bulk=BULK)
    assert cell_len(told) <= width
    assert "642/900  " in told
    assert BULK[1] in told
