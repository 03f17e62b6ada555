import pytest

from tui_eval.model.json import Json
from tui_eval.suites.data.hub.hub_address import HubAddress
from tui_eval.suites.data.hub.split_files import split_files, splits_there

CARD: Json = {
    "configs": [
        {
            "config_name": "all",
            "data_files": [
                {"split": "test", "path": "all/test-*"},
                {"split": "dev", "path": ["all/d1.parquet", "all/d2.parquet"]},
                {"split": "rows", "path": "rows.jsonl"},
            ],
        },
        {
            "config_name": "law",
            "default": True,
            "data_files": [{"split": "test", "path": "**/law-*.parquet"}],
        },
        {"config_name": "odd", "data_files": "odd.parquet"},
    ]
}
THERE = ["all/d2.parquet", "all/d1.parquet", "all/test-0.parquet", "law-0.parquet", "rows.jsonl",
         "x/law-1.parquet"]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("hf://a/b/all/test", ["all/test-0.parquet"]),
        ("hf://a/b/all/dev", ["all/d1.parquet", "all/d2.parquet"]),
        ("hf://a/b/all/rows", []),
        ("hf://a/b/test", ["law-0.parquet", "x/law-1.parquet"]),
        ("hf://a/b/law/train", []),
        ("hf://a/b/none/test", []),
        ("hf://a/b/odd/test", []),
    ],
)
def test_a_card_says_which_files_a_split_is(path: str, expected: list[str]) -> None:
    assert split_files(HubAddress.of(path), THERE, CARD) == expected


@pytest.mark.parametrize(
    ("path", "files", "expected"),
    [
        ("hf://a/b/main/test", ["main/test-1.parquet", "main/test-0.parquet", "main/tests.parquet"],
         ["main/test-0.parquet", "main/test-1.parquet"]),
        ("hf://a/b/test", ["data/test-0.parquet", "data/train-0.parquet"], ["data/test-0.parquet"]),
        ("hf://a/b/default/test", ["data/test-0.parquet"], ["data/test-0.parquet"]),
        ("hf://a/b/test", ["test.parquet"], ["test.parquet"]),
        ("hf://a/b/main/test", ["test.parquet"], []),
        ("hf://a/b/main/test", ["main/test/0000.parquet", "main/train/0000.parquet"],
         ["main/test/0000.parquet"]),
        ("hf://a/b/test", ["default/test/0000.parquet"], ["default/test/0000.parquet"]),
        ("hf://a/b/main/test", ["main/test/deep/0000.parquet", "main/partial-test/0.parquet"], []),
        ("hf://a/b/main/test", ["main/test-0.jsonl"], []),
    ],
)  # fmt: skip
def test_without_a_card_names_and_folders_say_it(
    path: str, files: list[str], expected: list[str]
) -> None:
    assert split_files(HubAddress.of(path), files, None) == expected


def test_what_there_is_can_be_told() -> None:
    assert splits_there(THERE, CARD) == ["all/dev", "all/rows", "all/test", "law/test"]
    names = ["main/test/0000.parquet", "main/train-0.parquet", "data/dev-0.parquet", "x.json"]
    assert splits_there(names, {"configs": "none"}) == ["dev", "main/test", "main/train"]
