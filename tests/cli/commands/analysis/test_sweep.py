import json
import re

import pytest

from tests.cli.conftest import Beside, Command, Place, document
from tests.servers.fake_model import FakeModel, always, refuse
from tui_eval.statistics.load import KNEE


async def test_a_sweep_prints_its_rows_and_the_line_for_the_suite(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(latency=0.02) as server:
        file = place.asking(server.base_url, n=4)
        done = await beside("sweep", file, "--levels", "4,1", "--cases", "6")
        assert done.code == 0, done.err
        assert "sweep of served at concurrency 1, 4: up to 23 calls" in done.err
        assert "concurrency 1: 6 calls" in done.err
        # which level that is depends on how busy the machine is; `statistics.load` has the rule
        assert (found := re.search(r"knee → ([14])\b", done.out))
        assert done.out.splitlines()[-2:] == [
            f"concurrency = {found[1]}",
            "  for [run] of the suite, or for the target",
        ]
        told = await beside("sweep", file, "--levels", "1,2", "--cases", "6", "--json")
    whole = document(told)
    first, second = whole["levels"]
    rates = {one["level"]: one["calls_s"] for one in (first, second)}
    assert list(rates) == [1, 2]
    assert whole["knee"] == min(n for n in rates if rates[n] >= KNEE * max(rates.values()))
    assert whole["line"] == f"concurrency = {whole['knee']}"
    assert list(first)[:9] == [
        "level",
        "calls",
        "errors",
        "error_ci95",
        "refused",
        "calls_s",
        "speedup",
        "latency_s",
        "tokens_s",
    ]
    assert first["speedup"] == 1
    assert second["speedup"] == pytest.approx(rates[2] / rates[1], rel=0.02)
    assert set(first["latency_s"]) == {"p50", "p95"}
    shown = document(await beside("show", whole["run"], "--json"))
    assert shown["kind"] == "sweep"
    assert shown["sweep"]["levels"] == whole["levels"]
    assert shown["exit_code"] == 0
    assert (shown["counts"]["done"], shown["counts"]["passed"]) == (shown["counts"]["total"], 0)
    of_target = shown["targets"]["served"]
    assert (of_target["n"], of_target["passed"], of_target["pass_rate"]) == (0, 0, None)
    compared = await beside("compare", whole["run"], "last")
    assert (compared.code, "is a sweep: nothing of it is scored" in compared.err) == (2, True)
    assert "done, sweep" in (await beside("runs")).out


async def test_an_endpoint_that_refuses_everything_has_no_knee(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(script=always(refuse(503))) as server:
        done = await beside("sweep", place.asking(server.base_url, n=4), "--levels", "1,2")
        assert server.requests == 1 + 20
    assert done.code == 3
    assert "no knee: every level had more than 5.0% errors" in done.out
    assert "20 errors (100.0%), 20 of them refused; --all measures" in done.out


def test_what_cannot_be_swept_is_said(place: Place, tui_eval: Command) -> None:
    file = place.suite()
    assert "is no whole number ≥ 1" in tui_eval("sweep", file, "--levels", "1,x").err
    assert "did you mean 'made-up'" in tui_eval("sweep", file, "--target", "made-upp").err
    suite = place.folder / file
    (place.folder / "r.jsonl").write_text('{"id": "case-0", "output": "1"}\n')
    other = '[[targets]]\nname = "other"\nkind = "replay"\npath = "r.jsonl"\n\n[prompt]'
    suite.write_text(suite.read_text().replace("[prompt]", other))
    several = tui_eval("sweep", file)
    assert several.code == 2
    assert "say --target made-up or --target other" in several.err
    recorded = tui_eval("sweep", file, "--target", "other")
    assert recorded.code == 2
    assert "has recorded answers: no API calls (replay)" in recorded.err
    assert json.loads(tui_eval("runs", "--json").out or "[]") == []
