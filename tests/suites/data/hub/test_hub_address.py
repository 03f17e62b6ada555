import pytest

from tui_eval.suites.data.hub.hub_address import HubAddress

COMMIT = "298e21613612e4b0d999bf1e69e2d9d9fb0bef5c"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("hf://openai/gsm8k/main/test", HubAddress("openai/gsm8k", "main", "test")),
        ("hf://openai/gsm8k/test", HubAddress("openai/gsm8k", None, "test")),
        ("hf://a/b/c/d@refs/pr/1", HubAddress("a/b", "c", "d", "refs/pr/1")),
        (f"hf://a/b/ARC-Challenge/d@{COMMIT}", HubAddress("a/b", "ARC-Challenge", "d", COMMIT)),
        ("hf://a/b/20220301.en/train", HubAddress("a/b", "20220301.en", "train")),
    ],
)
def test_an_address_is_read_and_written_back(path: str, expected: HubAddress) -> None:
    found = HubAddress.of(path)
    assert found == expected
    assert str(found) == path
    assert found.is_pinned == (found.revision == COMMIT)


@pytest.mark.parametrize(
    "path",
    [
        "hf://",
        "hf://gsm8k",
        "hf://openai/gsm8k",
        "hf://a/b/c/d/e",
        "hf://a/../b/c",
        "hf://a/b/../c",
        "hf://a/b/c@",
        "hf://a/b/c@x y",
        "hf://a@b/c/d",
        "hf:///b/c",
        "hf://a/b/c?d=e",
        "HF://a/b/c",
        "hf://a/b/c\n",
    ],
)
def test_what_is_no_address_says_the_form(path: str) -> None:
    with pytest.raises(ValueError, match=r"write hf://OWNER/NAME\[/CONFIG\]/SPLIT"):
        HubAddress.of(path)
