import json
from pathlib import Path
from typing import Any

import pytest

from tui_eval.scoring.judge.item import Form
from tui_eval.scoring.judge.reading import read

LINES = [
    json.loads(line)
    for line in (Path(__file__).parent / "judge_replies.jsonl").read_text("utf-8").splitlines()
]
SCALE = Form("scale", 0, 10, (0,))


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['n']}-{line['category']}")
def test_the_corpus(line: dict[str, Any]) -> None:
    forms = dict.fromkeys(line["ids"], SCALE)
    reading = read(line["reply"], forms, line["nonce"], line["finish_reason"])
    got = {
        id_: reading.findings[id_].parts[0].value if id_ in reading.findings else "ungraded"
        for id_ in line["ids"]
    }
    allowed = line.get("either", {})
    for id_, expected in line["expect"].items():
        assert got[id_] in allowed.get(id_, [expected])
        assert (id_ in reading.missing) == (got[id_] == "ungraded")
    assert reading.suspicious == line.get("audit", False)
