"""Files in requests, put there as the request goes out, as the API takes them."""

import asyncio
import json
import secrets
import shlex
from pathlib import PurePath

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import names_file
from tui_eval.model.outputs.output import Failure
from tui_eval.suites.data.attachments import AttachmentError, Attachments


async def with_files(body: JsonObject, files: Attachments, api: str) -> JsonObject | Failure:
    """Return a request with the bytes of the files that its messages name.

    Args:
        body: As it is in the key: parts that name files have their digests.
        files: Reads them.
        api: Whose form they have: `chat` or `responses`.
    """
    if not has_files(body):
        return body
    try:
        filled = await asyncio.to_thread(_filled, body, files, api)
    except AttachmentError as error:
        return Failure("attachment", str(error))
    assert isinstance(filled, dict), "as the body is"
    return filled


def with_body(words: list[str], body: JsonObject, api: str) -> str:
    """Return a call of curl that sends a body.

    Files that it names are read by the shell that runs it, in the suite's folder: a command cannot
    be as long as they are.
    """
    paths: list[str] = []
    here = secrets.token_hex(16)  # what no body holds

    def marked(value: Json) -> Json:
        if isinstance(value, list):
            return [marked(one) for one in value]
        if not isinstance(value, dict):
            return value
        if not _is_file(value):
            return {name: marked(one) for name, one in value.items()}
        paths.append(str(value["path"]))
        return part(value, f"data:{value['media_type']};base64,{here}", api)

    text = json.dumps(marked(body), ensure_ascii=False)
    if not paths:
        return " ".join([*words, "-d", shlex.quote(text)])
    pieces = text.split(here)
    told = [f"printf %s {shlex.quote(pieces[0])}"]
    for path, after in zip(paths, pieces[1:], strict=True):
        told += [f"base64 < {shlex.quote(path)} | tr -d '\\n'", f"printf %s {shlex.quote(after)}"]
    return f"{{ {'; '.join(told)}; }} | {' '.join([*words, '--data-binary', '@-'])}"


def has_files(value: Json) -> bool:
    """Return whether a request, or a part of one, names files with their digests."""
    parts = [value]
    while parts:
        one = parts.pop()
        if isinstance(one, dict):
            if _is_file(one):
                return True
            parts.extend(one.values())
        elif isinstance(one, list):
            parts.extend(one)
    return False


def _is_file(value: Json) -> bool:
    return names_file(value) and "sha256" in value


def _filled(value: Json, files: Attachments, api: str) -> Json:
    if isinstance(value, list):
        return [_filled(one, files, api) for one in value]
    if not isinstance(value, dict):
        return value
    if not _is_file(value):
        return {name: _filled(one, files, api) for name, one in value.items()}
    return part(value, files.data_url(value), api)


def part(named: JsonObject, url: str, api: str) -> JsonObject:
    """Return a part that names a file as an API takes it.

    Args:
        named: The part, as suites have it.
        url: What the file holds, as a data URL.
        api: `chat` or `responses`.
    """
    detail: JsonObject = {"detail": named["detail"]} if "detail" in named else {}
    if named["type"] == "image":
        if api == "responses":
            return {"type": "input_image", "image_url": url, **detail}
        return {"type": "image_url", "image_url": {"url": url, **detail}}
    held: JsonObject = {"filename": PurePath(str(named["path"])).name, "file_data": url}
    return {"type": "input_file", **held} if api == "responses" else {"type": "file", "file": held}
