import os
from base64 import b64decode
from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded, told, write
from tui_eval.model.json import JsonObject
from tui_eval.suites import loop_bounds
from tui_eval.suites.data import attachments
from tui_eval.suites.data.attachments import AttachmentError, Attachments, media_type_of
from tui_eval.suites.loading.suite_file import look
from tui_eval.suites.loop_bounds import NotAtOnceError
from tui_eval.suites.survey.template_check import survey

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
ASKED = '[[targets]]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'
PROMPT = """[prompt]
messages = [
  { role = "user", content = [
    { type = "text", text = "What is it?" },
    { type = "image", path = "PATH" },
  ] },
]
[[cases]]
id = "a"
file = "a.png"
"""


def parts(path: str, kind: str = "image") -> list[JsonObject]:
    return [{"role": "user", "content": [{"type": kind, "path": path}]}]


def suite_with(folder: Path, path: str = "a.png") -> Attachments:
    return Attachments(loaded(folder, PROMPT.replace("PATH", path) + ASKED))


def test_a_part_has_its_digest_in_the_request_and_its_bytes_as_it_leaves(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    files = suite_with(tmp_path)
    (message,) = files.named(parts("a.png"))
    content = message["content"]
    assert isinstance(content, list)
    part = content[0]
    assert isinstance(part, dict)
    assert part["media_type"] == "image/png"
    assert len(str(part["sha256"])) == 64
    head, _, data = files.data_url(part).partition(",")
    assert head == "data:image/png;base64"
    assert b64decode(data) == PNG

    (tmp_path / "a.png").write_bytes(PNG + b"!")
    changed = r'"a\.png" has changed since the run began: run it again'
    with pytest.raises(AttachmentError, match=changed):
        files.data_url(part)
    with pytest.raises(AttachmentError, match=changed):
        files.named(parts("a.png"))  # its trials' keys have the digest of the first
    (again,) = suite_with(tmp_path).named(parts("a.png"))
    assert again != message, "in another run another picture is another request"


def test_what_names_no_file_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    said: list[JsonObject] = [
        {"role": "user", "content": "a.png"},
        {"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url"}]},
    ]
    assert suite_with(tmp_path).named(said) == said


@pytest.mark.parametrize(
    ("name", "raw", "kind", "expected"),
    [
        ("gone.png", None, "image", 'no such file "gone.png"'),
        ("text.png", b"no picture", "image", '"text.png" is no image: it is text/plain'),
        ("../out.png", PNG, "image", "lies outside the suite's folder"),
        ("a\0b.png", None, "image", "NUL"),
        ("", None, "image", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_sent_is_told(
    tmp_path: Path, name: str, raw: bytes | None, kind: str, expected: str
) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "a.png").write_bytes(PNG)
    files = suite_with(folder)
    if raw is not None:
        (folder / name).write_bytes(raw)
    with pytest.raises(AttachmentError, match=expected):
        files.named(parts(name, kind))
    assert expected in str(files.trouble(parts(name, kind)))


def test_neither_a_pipe_nor_a_link_out_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "a.png").write_bytes(PNG)
    (tmp_path / "out.png").write_bytes(PNG)
    (folder / "link.png").symlink_to(tmp_path / "out.png")
    os.mkfifo(folder / "pipe.png")
    files = suite_with(folder)
    assert "cannot be read: is no regular file" in str(files.trouble(parts("pipe.png")))
    assert "lies outside" in str(files.trouble(parts("link.png")))


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    monkeypatch.setattr(attachments, "MOST", 10)
    files = suite_with(tmp_path)
    with pytest.raises(AttachmentError, match="has 14 bytes: at most"):
        files.named(parts("a.png"))


def test_a_large_file_is_not_digested_where_calls_are_in_flight(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG + bytes(300_000))
    files = suite_with(tmp_path)
    with loop_bounds.within(10), pytest.raises(NotAtOnceError):
        files.named(parts("a.png"))
    first = files.named(parts("a.png"))
    with loop_bounds.within(10):
        assert files.named(parts("a.png")) == first, "it is known by now"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7", "application/pdf"),
        ("Grüße".encode(), "text/plain"),
        (b"", "text/plain"),
        (b"\xff\xfe", "application/octet-stream"),
        (b"a\0b", "application/octet-stream"),
        (b"a" * 4095 + "ü".encode()[:1], "text/plain"),
    ],
)
def test_the_media_type_is_that_of_the_content(raw: bytes, expected: str) -> None:
    assert media_type_of(raw) == expected


def test_check_finds_what_is_missing_by_case(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    suite = loaded(
        tmp_path,
        PROMPT.replace("PATH", "{{ file }}") + '[[cases]]\nid = "b"\nfile = "b.png"\n' + ASKED,
    )
    found = [str(one) for one in survey(suite).troubles]
    assert found == ['prompt: no such file "b.png" (1 case: b)']
    nobody_asked = loaded(tmp_path, PROMPT.replace("PATH", "{{ file }}.gone") + TARGET)
    assert not survey(nobody_asked).troubles


def test_a_file_that_the_suite_names_must_be_there(tmp_path: Path) -> None:
    found = told(write(tmp_path, PROMPT.replace("PATH", "gone.png") + ASKED))
    assert [one.split(" (")[0] for one in found] == [
        'suite.toml, line 5: prompt.messages[0].content[1].path: no such file "gone.png"'
    ]


def test_a_file_outside_is_asked_for_and_then_may_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "suite"
    folder.mkdir()
    (tmp_path / "out.png").write_bytes(PNG)
    path = write(folder, PROMPT.replace("PATH", "../out.png") + ASKED)
    asks = look(path).asks
    assert [ask.permission.does for ask in asks] == ["read ../out.png outside the suite's folder"]
    allowed = look(path, trusted=True).suite
    assert allowed is not None
    assert Attachments(allowed).trouble(parts("../out.png")) is None
