from tui_eval.isolated.code_tests.fences import fenced

TAGS = ("python", "py")


def blocks(text: str) -> list[str]:
    return list(fenced(text, TAGS))


def test_blocks_of_the_language_go_before_others() -> None:
    text = "Run:\n```sh\npip x\n```\nCode:\n```Python\na = 1\n```\nand\n~~~py\nb = 2\n~~~\n"
    assert blocks(text) == ["a = 1\n", "b = 2\n"]


def test_unmarked_blocks_go_before_those_of_other_languages() -> None:
    assert blocks("```\na\n```\n```sh\nb\n```\n") == ["a\n"]
    assert blocks("```sh\nb\n```\n") == ["b\n"]


def test_a_fence_that_nothing_closes_ends_with_the_text() -> None:
    assert blocks("```python\na = 1\nb = 2") == ["a = 1\nb = 2\n"]


def test_a_longer_fence_holds_shorter_ones() -> None:
    assert blocks("````python\ns = '''\n```\n'''\n````\n") == ["s = '''\n```\n'''\n"]


def test_what_a_single_fence_only_ends_is_a_block() -> None:
    assert blocks("    return 1\n```\n") == ["    return 1\n"]


def test_there_are_none_in_plain_text() -> None:
    assert blocks("def f(): pass") == []
    assert blocks("inline ```code``` here") == []


def test_lines_that_end_as_on_windows_are_read() -> None:
    assert blocks("```python\r\na = 1\r\n```\r\n") == ["a = 1\n"]
