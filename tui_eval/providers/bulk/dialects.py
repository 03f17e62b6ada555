"""The batch APIs there are, by the name that a suite gives to `bulk.api`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.providers.bulk.anthropic_batches import AnthropicBatches
from tui_eval.providers.bulk.api import BulkApi
from tui_eval.providers.bulk.connection import BulkPlace
from tui_eval.providers.bulk.openai_batches import OpenAiBatches
from tui_eval.providers.bulk.openai_lines import CallForm
from tui_eval.providers.bulk.request_files import RequestFiles


@dataclass(frozen=True, slots=True)
class BulkSettings:
    """What a batch API is made of; each dialect takes what it needs."""

    place: BulkPlace
    form: CallForm
    """Which API the bodies are for; Anthropic's has none but `chat`."""
    folder: Path
    """Where files of requests are written."""


DIALECTS: Final[Mapping[str, Callable[[BulkSettings], BulkApi]]] = {
    "openai": lambda settings: OpenAiBatches(settings.place, settings.form),
    "anthropic": lambda settings: AnthropicBatches(settings.place),
    "files": lambda settings: RequestFiles(settings.folder, settings.form),
}
