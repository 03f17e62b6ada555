"""What every kind of target and judge says of itself, so that nobody else has to know its kind.

`AskedSpec` has one method for each question that the rest of the program asks. The defaults are
honest for a kind that knows nothing: it needs nothing, its price is unknown, it has no limit.

Class methods look at a table as it was written, before it is checked: its fields may be missing or
of any type. The others look at a spec that was read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.json import Json
from tui_eval.providers.prices import Prices
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.loading.toml_lines import Path as FieldPath
from tui_eval.suites.spec.table import Spec, Text
from tui_eval.suites.trust.permissions import Permission

OUTPUT_LIMITS: Final = ("max_completion_tokens", "max_output_tokens", "max_tokens")
"""Parameters that bound the tokens of an answer; the first that is given counts."""
MODEL_PARAMS: Final = frozenset(
    (*OUTPUT_LIMITS, "params", "temperature", "top_p", "top_k", "min_p", "seed", "stop", "n",
     "presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "logprobs",
     "top_logprobs", "reasoning_effort", "reasoning", "response_format", "tool_choice")
)  # fmt: skip
"""What people write for a model wherever one is asked, and the field that it stands in."""


@dataclass(frozen=True, slots=True)
class CallRates:
    """How often an endpoint may be asked."""

    rpm: int | None = None
    """Requests in a minute; None: as many as it takes."""
    tpm: int | None = None
    """Tokens in a minute, read and produced; None: as many as it takes."""


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A key that is sent to an endpoint; see `providers.presets.address`."""

    provider: str | None
    base_url: str | None
    api_key_env: str | None


class AskedSpec(Spec):
    """A target or a judge."""

    WHAT: ClassVar[str]
    """What messages call it: `target` or `judge`."""
    DATA_FIELDS: ClassVar[tuple[str, ...]] = ()
    """The fields that name a data file or a glob of such, read together with the dataset."""
    LIST_FILES: ClassVar[Mapping[str, str]] = {}
    """The fields that may name a JSON file in place of a list of tables; what they are a list of.
    """
    TEMPLATED: ClassVar[tuple[str, ...]] = ()
    """The fields that are rendered for each case."""
    SOURCE: ClassVar[AnswerSource] = AnswerSource.ASKED
    """Where its answers come from."""

    kind: str
    """What it is."""
    name: Text
    """How the suite calls it."""

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield what is wrong between its fields, as far as no single field shows it."""
        yield from ()

    @classmethod
    def written_templates(cls, table: Mapping[str, object]) -> Iterator[tuple[FieldPath, Json]]:
        """Yield what may be a template in its fields as they were written, with where it stands."""
        for field in cls.TEMPLATED:
            value: Any = table.get(field)
            yield (field,), value

    @classmethod
    def hint_for_param(cls, name: str) -> str | None:
        """Return where a parameter of a model belongs that stands among the fields; None: nowhere.

        Args:
            name: One of `MODEL_PARAMS`, or `params` where there is no such field.
        """
        return None

    @classmethod
    def file_mistakes(cls, table: Mapping[str, object], folder: Path) -> Iterator[FieldMistake]:
        """Yield what is wrong with what its fields name beside the suite; nothing is run.

        Args:
            table: Its fields.
            folder: The suite's own.
        """
        yield from ()

    @classmethod
    def files_read(cls, table: Mapping[str, object], folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the files that it reads when it is asked, each with the field that names it.

        Args:
            table: Its fields.
            folder: The suite's own.
        """
        yield from ()

    @classmethod
    def keys_sent(cls, table: Mapping[str, object]) -> Iterator[KeyUse]:
        """Yield the keys it sends, and where to."""
        yield from ()

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield what else it does that a person has to allow first: programs it runs.

        Args:
            table: Its fields.
            folder: The suite's own; None: it was made by this program, not read from a file.
        """
        yield from ()

    def permissions_by_case(self, data: Path | None, tasks: Path | None) -> Iterator[Permission]:
        """Yield what else it does that its cases decide.

        Args:
            data: The path or glob of the data; None: the cases stand in the suite.
            tasks: A glob of all files of the tasks; None: the cases are no folders of tasks.
        """
        yield from ()

    def as_written(self) -> dict[str, object]:
        """Return its fields as a suite file has them, with the defaults of those left out."""
        return self.model_dump(mode="json")

    def data_paths(self) -> Iterator[Path]:
        """Yield the data files and globs of `DATA_FIELDS`."""
        for field in self.DATA_FIELDS:
            yield Path(str(getattr(self, field)))

    def templates(self) -> dict[str, Json]:
        """Return what is rendered for each case, by field."""
        return self.model_dump(mode="json", include={*self.TEMPLATED})

    def late_names(self, field: str) -> frozenset[str]:
        """Return the names that a field's templates know only once it was asked.

        Args:
            field: One that `templates` returns.
        """
        return frozenset()

    def asked_model(self) -> str | None:
        """Return the name of the model it asks; None: it asks none that it knows of."""
        return None

    def in_words(self) -> str:
        """Return what it is and where it is asked, in a few words."""
        return self.kind

    def runs(self) -> Iterator[str]:
        """Yield what it runs on this machine, and what keeps that from the rest, in words."""
        yield from ()

    def call_rates(self) -> CallRates:
        """Return how often it may be asked."""
        return CallRates()

    def input_tokens(self, estimate: int) -> int | None:
        """Return the tokens that it is sent; None: that is unknown beforehand.

        Args:
            estimate: As the length of its prompt tells.
        """
        return estimate

    @classmethod
    def asked_in_bulk(cls, table: Mapping[str, object]) -> bool:
        """Say whether it is asked through a provider's batch API: once, without going on."""
        return False

    def output_limit(self) -> int | None:
        """Return the tokens that an answer may have; None: as many as it takes."""
        return None

    def cost_limit(self) -> float | None:
        """Return the US dollars at which a call is ended; None: it has no such limit."""
        return None

    def token_prices(self) -> Prices | None:
        """Return what its tokens cost; None: that is unknown beforehand."""
        return None

    def expected_prices(self) -> Prices | None:
        """Return what its tokens cost as it is asked at first; None: that is unknown beforehand."""
        return self.token_prices()

    def bound_problem(self) -> str | None:
        """Say why nobody knows beforehand how much it takes at most; None: no cap needs to know."""
        return None

    def count_problem(self) -> str | None:
        """Say why its tokens cannot be counted; None: they can, or there are none."""
        return None

    def price_problem(self) -> str | None:
        """Say why its cost cannot be bounded beforehand; None: its prices are known."""
        if self.token_prices() is not None:
            return None
        return "max_cost_usd needs a known price, and there is none: drop the cap"
