import json
import tracemalloc
from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded
from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.errors import SuiteError

SCORER = '[[scorers]]\nkind = "exact"\nexpected = "x"\n'
PROMPTLESS = TARGET + SCORER


def read(
    folder: Path, rows: list[JsonObject] | str, dataset: str = "", more: str = PROMPTLESS
) -> list[Case]:
    text = f'[dataset]\npath = "data.jsonl"\n{dataset}\n{more}'
    return list(cases(loaded(folder, text, data_jsonl=rows)))


def told(
    folder: Path, rows: list[JsonObject] | str, dataset: str = "", more: str = PROMPTLESS
) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        read(folder, rows, dataset, more)
    return [str(mistake) for mistake in caught.value.mistakes]


def ids(found: list[Case]) -> list[str]:
    return [case.id for case in found]


def test_cases_come_in_order_with_their_whole_row(tmp_path: Path) -> None:
    first, second = read(tmp_path, [{"id": "b", "n": 1}, {"id": 7, "n": [2]}])
    assert (first.seq, first.id, first.fields) == (0, "b", {"id": "b", "n": 1})
    assert (second.seq, second.id, second.fields) == (1, "7", {"id": 7, "n": [2]})


def test_the_id_may_stand_in_another_column(tmp_path: Path) -> None:
    rows: list[JsonObject] = [{"meta": {"key": "x"}, "id": 1}]
    assert ids(read(tmp_path, rows, 'id = "meta.key"')) == ["x"]


def test_a_row_without_an_id_is_called_by_its_digest(tmp_path: Path) -> None:
    first, again, other = read(tmp_path, [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2}])
    assert len(first.id) == 16
    assert again.id == f"{first.id}-2"
    assert other.id != first.id
    assert ids(read(tmp_path, [{"b": 2, "a": 1}])) == [first.id]


@pytest.mark.parametrize(
    ("row", "dataset", "expected"),
    [
        ({"id": "a"}, "", 'id: the id "a" is there twice, first in data.jsonl, line 1'),
        ({"id": 1.5}, "", 'id: the id in column "id" must be a text or a whole number'),
        ({"id": True}, "", 'id: the id in column "id" must be a text or a whole number'),
        ({"id": ""}, "", 'id: the id in column "id" must be a text or a whole number'),
        ({"id": "b", "tags": 3}, "", "tags: must be a text or a list of texts"),
        ({"id": "b", "t": [[1]]}, 'tags = "t"', "t: a tag must be a text or a number"),
        ({"id": "b", "weight": 0}, "", "weight: must be a number above 0, not 0"),
        ({"id": "b", "weight": 1e308}, "", "weight: must be from 1e-09 to 1e+09, not 1e+308"),
        ({"id": "b", "weight": 1e-308}, "", "weight: must be from 1e-09 to 1e+09, not 1e-308"),
        ({"id": "b", "weight": "heavy"}, "", 'weight: must be a number above 0, not "heavy"'),
        ({"id": "b", "timeout": True}, "", "timeout: must be a number above 0, not true"),
        (
            {"id": "b", "skip": "exat"},
            "",
            'skip: no scorer is called "exat"; did you mean "exact"?',
        ),
        (
            {"id": "b", "scorers": [{"kind": "exact", "name": "y", "expcted": "x"}]},
            "",
            "scorers[0].expected: is missing",
        ),
        (
            {"id": "b", "scorers": [{"kind": "exact", "expected": "x"}]},
            "",
            'scorers[0]: a scorer called "exact" is there already; give it another name',
        ),
        (
            {"id": "b", "scorers": [{"kind": "finish", "name": "finish reason"}]},
            "",
            'scorers[0]: a scorer called "finish reason" is there already; give it another name',
        ),
        (
            {"id": "b", "scorers": [{"kind": "regex", "expected": "{{ a"}]},
            "",
            (
                "scorers[0].expected: is no template: unexpected end of template, expected 'end of "
                "print statement'."
            ),
        ),
        (
            {"id": "b", "scorers": [{"kind": "json", "targets": ["other"]}]},
            "",
            'scorers[0].targets: no target is called "other"; there are simulated',
        ),
        (
            {"id": "b", "scorers": [{"kind": "json_schema", "schema_file": "x"}]},
            "",
            "scorers[0]: a case's own schema cannot be in a file; put it into `schema`",
        ),
        ({"id": "b", "scorers": "x"}, "", 'scorers: must be a list, not "x"'),
        (
            {"id": "b"},
            'filter = "{{ level > 3 }}"',
            'dataset.filter: "level" is undefined; there are id',
        ),
        ({"key": "b"}, 'id = "key2"', 'key2: the column of the id is missing; did you mean "key"?'),
    ],
)
def test_a_bad_row_is_told_with_file_line_and_field(
    tmp_path: Path, row: JsonObject, dataset: str, expected: str
) -> None:
    good: JsonObject = {"id": "a", "key2": "a", "level": 5}
    assert f"data.jsonl, line 2: {expected}" in told(tmp_path, [good, row], dataset)


def test_a_filter_that_is_no_decision_is_told(tmp_path: Path) -> None:
    assert told(tmp_path, [{"id": "b"}], 'filter = "{{ id }}"') == [
        (
            'data.jsonl, line 1: dataset.filter gives "b", not true or false; write one '
            "expression: "
            '"{{ level > 3 }}"'
        )
    ]


@pytest.mark.parametrize(
    ("expression", "written"),
    [
        ("level > 3", "level | int > 3"),
        ("case.level >= 2.5", "case.level | float >= 2.5"),
        ("level + 1 == 4", "level | int + 1"),
        ("3 < level", "level | int > 3"),
    ],
)
def test_a_filter_that_takes_a_cell_for_a_number_is_told_what_to_write(
    tmp_path: Path, expression: str, written: str
) -> None:
    text = f'[dataset]\npath = "data.csv"\nfilter = "{{{{ {expression} }}}}"\n{PROMPTLESS}'
    suite = loaded(tmp_path, text, data_csv="id,level\na,4\n")
    with pytest.raises(SuiteError) as caught:
        list(cases(suite))
    (mistake,) = caught.value.mistakes
    assert str(mistake).startswith("data.csv, line 2: dataset.filter: ")
    assert mistake.hint == (
        f"it is a text there, as every cell of a CSV or TSV file is: write {{{{ {written} }}}}"
    )
    right = text.replace(expression, written.replace("+ 1", "+ 1 == 5"))
    assert len(list(cases(loaded(tmp_path, right, data_csv="id,level\na,4\n")))) == 1


def test_bad_rows_are_told_together_and_no_case_follows_one(tmp_path: Path) -> None:
    rows = '{"id": "a"}\nnope\n{"id": "b"}\n{"id": "a"}\n'
    suite = loaded(tmp_path, f'[dataset]\npath = "data.jsonl"\n{PROMPTLESS}', data_jsonl=rows)
    stream = cases(suite)
    assert next(stream).id == "a"
    with pytest.raises(SuiteError) as caught:
        next(stream)
    assert [str(mistake) for mistake in caught.value.mistakes] == [
        "data.jsonl, line 2: is not JSON in column 1: expecting value",
        'data.jsonl, line 4: id: the id "a" is there twice, first in data.jsonl, line 1',
    ]


def test_at_most_twenty_mistakes_are_collected(tmp_path: Path) -> None:
    assert len(told(tmp_path, [{"id": "a"}] * 100)) == 20


def test_tags_come_from_columns_and_from_the_case(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {"id": 1, "meta": {"topic": "sums"}, "langs": ["en", "de"], "level": 3, "tags": ["hard"]},
        {"id": 2, "meta": {}, "langs": None, "level": True, "tags": "sums"},
    ]
    first, second = read(tmp_path, rows, 'tags = ["meta.topic", "langs", "level"]')
    assert first.tags == ("hard", "sums", "en", "de", "3")
    assert second.tags == ("sums", "true")


def test_a_case_may_say_more_about_itself(tmp_path: Path) -> None:
    scorer: JsonObject = {"kind": "includes", "expected": "a", "not": True}
    rows: list[JsonObject] = [
        {"id": 1, "weight": 2, "timeout": 1.5, "skip": ["exact"], "scorers": [scorer]},
        {"id": 2, "weight": None, "timeout": None, "skip": None, "scorers": None, "tags": None},
    ]
    first, second = read(tmp_path, rows)
    assert (first.weight, first.timeout, first.skip) == (2.0, 1.5, ("exact",))
    assert first.scorers[0]["name"] == "includes"
    assert first.scorers[0]["not"] is True
    assert second == Case(seq=1, id="2", fields=rows[1])


def test_a_table_says_the_same_in_texts(tmp_path: Path) -> None:
    text = f'[dataset]\npath = "data.csv"\n{PROMPTLESS}'
    content = "id,weight,timeout,skip,tags\na,2,9.5,exact,hard\nb,,,,\n"
    first, second = cases(loaded(tmp_path, text, data_csv=content))
    assert (first.weight, first.timeout, first.skip, first.tags) == (2, 9.5, ("exact",), ("hard",))
    assert (second.weight, second.timeout, second.skip, second.tags) == (1, None, (), ())


def test_a_glob_reads_all_its_files_in_order_of_name(tmp_path: Path) -> None:
    text = f'[dataset]\npath = "part*.jsonl"\n{PROMPTLESS}'
    suite = loaded(tmp_path, text, part2_jsonl=[{"id": "b"}], part1_jsonl=[{"id": "a"}])
    assert [case.id for case in cases(suite)] == ["a", "b"]


def test_ids_differ_across_the_files_of_a_glob(tmp_path: Path) -> None:
    text = f'[dataset]\npath = "part*.jsonl"\n{PROMPTLESS}'
    suite = loaded(tmp_path, text, part2_jsonl=[{"id": "a"}], part1_jsonl=[{"id": "a"}])
    said = r'part2.jsonl, line 1: id: the id "a" is there twice, first in part1.jsonl, line 1$'
    with pytest.raises(SuiteError, match=said):
        list(cases(suite))


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    for folder in ("x", "y"):
        (tmp_path / "data" / folder).mkdir(parents=True)
    (tmp_path / "data" / "x" / "rows.jsonl").write_text('{"id": "a"}\n')
    (tmp_path / "data" / "y" / "rows.jsonl").write_text('{"id": "a"}\noops\n')
    suite = loaded(tmp_path, f'[dataset]\npath = "data/*/rows.jsonl"\n{PROMPTLESS}')
    with pytest.raises(SuiteError) as caught:
        list(cases(suite))
    assert [str(mistake) for mistake in caught.value.mistakes] == [
        (
            'data/y/rows.jsonl, line 1: id: the id "a" is there twice, '
            "first in data/x/rows.jsonl, line 1"
        ),
        "data/y/rows.jsonl, line 2: is not JSON in column 1: expecting value",
    ]


def test_data_that_went_away_is_told(tmp_path: Path) -> None:
    suite = loaded(tmp_path, f'[dataset]\npath = "data.jsonl"\n{PROMPTLESS}', data_jsonl=[{}])
    (tmp_path / "data.jsonl").unlink()
    with pytest.raises(SuiteError, match=r"data\.jsonl: no such file"):
        list(cases(suite))


ROWS: list[JsonObject] = [{"id": f"c{n}", "n": n} for n in range(20)]


def test_filter_keeps_what_is_true(tmp_path: Path) -> None:
    found = read(tmp_path, ROWS, 'filter = "{{ n % 7 == 3 }}"')
    assert ids(found) == ["c3", "c10", "c17"]
    assert [case.seq for case in found] == [0, 1, 2]


def test_limit_takes_the_first_and_reads_no_further(tmp_path: Path) -> None:
    rows = "".join(json.dumps(row) + "\n" for row in ROWS) + "broken\n"
    assert ids(read(tmp_path, rows, "limit = 3")) == ["c0", "c1", "c2"]


def test_shuffle_is_drawn_by_the_seed(tmp_path: Path) -> None:
    found = read(tmp_path, ROWS, "shuffle = true")
    assert ids(found) != [row["id"] for row in ROWS]
    assert sorted(ids(found)) == sorted(str(row["id"]) for row in ROWS)
    assert [case.seq for case in found] == list(range(20))
    assert ids(read(tmp_path, ROWS, "shuffle = true")) == ids(found)
    assert ids(read(tmp_path, ROWS, "shuffle = true\nseed = 1")) != ids(found)


def test_sample_keeps_order_and_does_not_mind_other_cases(tmp_path: Path) -> None:
    chosen = ids(read(tmp_path, ROWS, "sample = 8"))
    assert chosen == sorted(chosen, key=lambda case_id: int(case_id[1:]))
    assert len(chosen) == 8
    fewer = [row for row in ROWS if row["id"] in chosen or row["n"] in (1, 2)]
    assert set(ids(read(tmp_path, fewer, "sample = 8"))) == set(chosen)


def test_sample_shuffle_and_limit_go_together(tmp_path: Path) -> None:
    sampled = ids(read(tmp_path, ROWS, "sample = 8"))
    found = read(tmp_path, ROWS, "sample = 8\nshuffle = true\nlimit = 3")
    assert len(found) == 3
    assert set(ids(found)) < set(sampled)


def test_a_drawn_case_is_whole(tmp_path: Path) -> None:
    rows: list[JsonObject] = [
        {"id": 1, "weight": 2, "timeout": 3, "skip": "exact", "tags": ["t"], "output": "said"}
    ]
    replay = '[[targets]]\nkind = "replay"\npath = "data.jsonl"\n' + SCORER
    straight = read(tmp_path, rows, more=replay)
    assert straight[0].recorded == {"replay": {"output": "said"}}
    assert read(tmp_path, rows, "shuffle = true", more=replay) == straight


def test_a_lone_surrogate_survives_a_draw(tmp_path: Path) -> None:
    rows = '{"id": "a\\ud800", "text": "\\udfff"}\n'
    assert read(tmp_path, rows, "shuffle = true")[0].fields["text"] == "\udfff"


def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    padding = "x" * 2000

    def peak(count: int, dataset: str) -> int:
        rows: list[JsonObject] = [{"id": n, "text": padding} for n in range(count)]
        text = f'[dataset]\npath = "data.jsonl"\n{dataset}\n{PROMPTLESS}'
        suite = loaded(tmp_path, text, data_jsonl=rows)
        del rows
        tracemalloc.start()
        for _ in cases(suite):
            pass
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    for dataset in ("", "shuffle = true"):
        assert peak(2000, dataset) - peak(200, dataset) < 1800 * 400


def test_inline_cases_are_cases(tmp_path: Path) -> None:
    text = '[[cases]]\nid = "a"\nday = 2024-01-02\n\n[[cases]]\nn = 1\n' + PROMPTLESS
    first, second = cases(loaded(tmp_path, text))
    assert first.fields == {"id": "a", "day": "2024-01-02"}
    assert len(second.id) == 16


def test_mistakes_in_inline_cases_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
    text = '[[cases]]\nid = "a"\n\n[[cases]]\nid = "a"\n\n[[cases]]\nweight = -1\n' + PROMPTLESS
    with pytest.raises(SuiteError) as caught:
        loaded(tmp_path, text)
    assert [str(one).replace(f"{tmp_path}/", "") for one in caught.value.mistakes] == [
        ('suite.toml, line 4: cases[1].id: the id "a" is there twice, first in suite.toml, line 1'),
        "suite.toml, line 7: cases[2].weight: must be a number above 0, not -1",
    ]
