"""Similarity by the vectors of a model, asked for and replied as judges are.

The grade of an item is the cosine of its output with the most similar of its references; one below
0 counts as 0. So batches, limits, money, repairs and what is kept by key are those of judges.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.spec import EmbeddingSpec
from tui_eval.targets.build_context import BuildContext
from tui_eval.targets.judges.endpoint_judge import EndpointJudge
from tui_eval.texts.wording import quoted


class EmbeddingJudge(EndpointJudge):
    """Asks an endpoint for vectors, and replies with cosines."""

    def __init__(self, spec: EmbeddingSpec, context: BuildContext) -> None:
        """Make it; its connection is shared with whoever asks at the same address.

        Raises:
            ValueError: its provider or base URL makes no sense.
        """
        super().__init__(spec, context)
        self._spec: EmbeddingSpec = spec

    def identity(self) -> JsonObject:
        """Return what decides about its vectors: endpoint, model, parameters."""
        known = {name: value for name, value in super().identity().items() if name != "api"}
        return {**known, "params": self._spec.params}

    def body(self, messages: Sequence[JsonObject], schema: JsonObject) -> JsonObject:
        """Return a request as it goes out: each text of the items once."""
        return self._asking_for(_texts(_items(_asked(messages))))

    async def ask(
        self, messages: Sequence[JsonObject], schema: JsonObject, *, timeout_s: float
    ) -> Output | Failure:
        """Make one call; what it cost is in the reply."""
        asked = _asked(messages)
        items = _items(asked)
        texts = _texts(items)
        places = {text: place for place, text in enumerate(texts)}
        pairs = [
            (places[_output(item)], places[reference])
            for item in items
            for reference in _references(item)
        ]
        body = self._asking_for(texts)
        got = await self._connection.cosines(self._spec, body, pairs, timeout_s)
        if isinstance(got, Failure):
            return got
        cosines = got.fields["cosines"]
        assert isinstance(cosines, list)
        alike = dict(zip(pairs, map(float, map(str, cosines)), strict=True))
        grades: list[Json] = [
            {"id": item["id"], **_grade(item, [alike[places[_output(item)], places[one]]
                                               for one in _references(item)])}
            for item in items
        ]  # fmt: skip
        reply = json.dumps({"nonce": asked["nonce"], "grades": grades}, ensure_ascii=False)
        # half a character is no text: it stands escaped, as in what was asked
        return replace(got, text=reply.encode("utf-8", "backslashreplace").decode(), fields={})

    def _asking_for(self, texts: Sequence[str]) -> JsonObject:
        return {"input": [*texts], **self._spec.params, **self._asked_for()}


def _grade(item: JsonObject, cosines: Sequence[float]) -> JsonObject:
    most = max(cosines)
    closest = _references(item)[cosines.index(most)]
    reason = f"cosine {most:.3f}: expected {quoted(closest)}, got {quoted(_output(item))}"
    return {"reason": reason, "score": max(0.0, most)}


def _asked(messages: Sequence[JsonObject]) -> JsonObject:
    """Return the object with the items, which is all that a request for similarity says."""
    (message,) = messages
    asked = json.loads(str(message["content"]))
    assert isinstance(asked, dict)
    return asked


def _items(asked: JsonObject) -> list[JsonObject]:
    items = asked["items"]
    assert isinstance(items, list)
    return [item for item in items if isinstance(item, dict)]


def _output(item: JsonObject) -> str:
    return str(item["output"])


def _references(item: JsonObject) -> list[str]:
    references = item["reference"]
    assert isinstance(references, list)
    return [str(one) for one in references]


def _texts(items: Sequence[JsonObject]) -> list[str]:
    """Return the texts of some items, each once."""
    return list(dict.fromkeys(text for one in items for text in (_output(one), *_references(one))))
