"""A target: it answers what it is asked, backwards."""

from typing import Any

from pydantic import BaseModel, Field

from tui_eval.plugins import Failure, Output, Usage

version = "1"


class Settings(BaseModel):
    """What a suite may say of it."""

    times: int = Field(default=1, ge=1, le=10)


async def generate(
    settings: Settings, request: dict[str, Any], timeout_s: float
) -> Output | Failure:
    """Return what came of one call."""
    asked = request["prompt"]
    if not asked:
        return Failure("bad_request", "there is nothing to read backwards")
    return Output(asked[::-1] * settings.times, usage=Usage(len(asked), len(asked)), cost_usd=0.0)
