"""Suites and cases as short as a test needs them."""

from typing import Any

from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.spec import Suite
from tui_eval.targets import Target, build
from tui_eval.targets.attempt.attempt_context import AttemptContext

OPENAI = {"provider": "openai", "model": "gpt-5-mini"}
COLUMN = Column(index=0, name="t", target="t", prompt=None)


def suite(*targets: dict[str, Any], user: str = "{{ question }}", **more: Any) -> Suite:
    """Make a suite of one prompt and these targets."""
    named = [{"name": "t", **target} for target in targets]
    return Suite.model_validate({"name": "s", "prompts": [{"user": user}], "targets": named} | more)


def only(*targets: dict[str, Any], **more: Any) -> Target:
    """Make the one target of a suite."""
    (target,) = build(suite(*targets, **more)).values()
    return target


def case(seq: int = 0, **fields: Any) -> Case:
    """Make a case with these fields."""
    return Case(seq=seq, id=f"c{seq}", fields=fields)


def requested(target: Target, of: Case) -> JsonObject:
    """Render a request that can be rendered."""
    request = target.request(COLUMN, of)
    assert not isinstance(request, Failure), request
    return request


async def answered(target: Target, of: Case, timeout_s: float = 20) -> Output:
    """Ask once and take the output."""
    got = await target.generate(requested(target, of), AttemptContext(timeout_s))
    assert isinstance(got, Output), got
    return got
