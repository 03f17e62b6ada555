import json
from typing import Any

from tests.servers.fake_embeddings import embeddings
from tests.servers.fake_model import FakeModel, refuse
from tests.targets.making import suite
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.targets import Judge, build_judges


def messages(*items: tuple[str, list[str]]) -> list[JsonObject]:
    asked = {
        "nonce": "n1",
        "items": [
            {"id": f"k{n}", "output": output, "reference": [*references]}
            for n, (output, references) in enumerate(items)
        ],
    }
    return [{"role": "user", "content": json.dumps(asked)}]


def only(**embedding: Any) -> Judge:
    table = {"kind": "embedding", "model": "v", **embedding}
    (made,) = build_judges(suite({"kind": "simulated", "answers": ["x"]}, judges=[table])).values()
    return made


ASKED = messages(("a cat", ["a cat", "a dog"]), ("a dog", ["a cat"]), ("red", ["blue"]))


async def test_texts_are_sent_once_each_and_cosines_are_the_grades() -> None:
    async with FakeModel(script=embeddings()) as server:
        given = {"base_url": server.base_url, "params": {"dimensions": 64}}
        async with only(**given, prices={"input": 2.0}) as judge:
            got = await judge.ask(ASKED, {}, timeout_s=20)
            assert isinstance(got, Output), got
            assert judge.body(ASKED, {}) == server.calls[0].body
    assert server.calls[0].path == "/v1/embeddings"
    assert server.calls[0].body == {
        "input": ["a cat", "a dog", "red", "blue"],
        "dimensions": 64,
        "model": "v",
    }
    reply = json.loads(got.text or "")
    assert reply["nonce"] == "n1"
    assert [(one["id"], round(one["score"], 3)) for one in reply["grades"]] == [
        ("k0", 1.0),
        ("k1", 0.5),
        ("k2", 0.0),
    ]
    assert reply["grades"][1]["reason"] == 'cosine 0.500: expected "a cat", got "a dog"'
    assert got.fields == {}
    assert (got.usage.input, got.cost_usd) == (6, 6 * 2.0 / 1e6)


async def test_an_endpoint_without_vectors_is_a_failure_that_says_so() -> None:
    def refused(call: object) -> Any:
        return refuse(404, "not_found", "no such route")

    async with FakeModel(script=refused) as server, only(base_url=server.base_url) as judge:
        got = await judge.ask(ASKED, {}, timeout_s=20)
    assert isinstance(got, Failure)
    assert (got.kind, got.fatal) == ("not_found", True)


def test_its_identity_has_what_vectors_depend_on() -> None:
    def identity(**more: Any) -> JsonObject:
        return only(base_url="http://127.0.0.1:9/v1", **more).identity()

    assert identity() == {
        "kind": "embedding",
        "provider": None,
        "base_url": "http://127.0.0.1:9/v1",
        "model": "v",
        "params": {},
    }
    assert identity(params={"dimensions": 8}) != identity() != identity(version="2")
    assert identity(batch_size=3, retries=0, concurrency=1) == identity()
