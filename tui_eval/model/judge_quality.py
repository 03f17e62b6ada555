"""How far a judge is to be trusted, as it was measured: an audit of its batches, gold."""

from dataclasses import asdict, dataclass
from typing import Final

from tui_eval.model.json import Json, JsonObject

ENOUGH: Final = 30
"""Outputs under which too little is known to say anything."""


@dataclass(frozen=True, slots=True)
class Audit:
    """What batching changes: batched outputs graded again, each alone and twice.

    An output counts where it was graded all three times. Its flips in the batch are those of the
    batch's verdict against each of the two given alone, halved; the other flips are those of the
    two among each other: the judge's own noise.
    """

    n: int
    """Outputs that count; with requirements asked one by one, requirements."""
    batch_size: int
    max_excess_flips: float
    """What was allowed."""
    flips_batched: float
    """The share of verdicts that differ between batch and alone."""
    flips_alone: float
    """The share of verdicts that differ between alone and alone."""
    excess: float
    """`flips_batched` beyond `flips_alone`; below 0 where the batch agrees better."""
    low: float
    """The lower end of the excess's 95% interval."""
    high: float
    kappa_batched: float | None
    """Cohen's κ of the verdicts, batch against alone; None: all verdicts are alike."""
    kappa_alone: float | None
    """Likewise alone against alone."""
    spearman_batched: float | None
    """Rank correlation of the values, batch against alone; None: no scale, or no spread."""
    spearman_alone: float | None
    """Likewise alone against alone."""
    positions: tuple[tuple[int, float], ...]
    """For each place in a batch, from the first: how many outputs stood there, and the mean of
    their raw scores (of requirements: the share met)."""
    tokens_batched: float | None
    """Tokens, read and produced, for an output in a batch; None: not told."""
    tokens_alone: float | None
    """Likewise for an output alone."""

    @property
    def enough(self) -> bool:
        """Whether there are enough outputs to say anything."""
        return self.n >= ENOUGH

    @property
    def batching_off(self) -> bool:
        """Whether batching flips more than is allowed, beyond doubt: then it is turned off."""
        return self.enough and self.low > self.max_excess_flips

    @property
    def tokens_saved(self) -> float | None:
        """The share of tokens that batching saves; None: not known."""
        if self.tokens_batched is None or not self.tokens_alone:
            return None
        return 1 - self.tokens_batched / self.tokens_alone

    def as_json(self) -> JsonObject:
        """Return it as it is stored."""
        positions: list[Json] = [[n, mean] for n, mean in self.positions]
        return {**asdict(self), "positions": positions}

    @classmethod
    def from_json(cls, stored: JsonObject) -> "Audit":
        """Read what `as_json` gave; a `TypeError` or `KeyError` where it did not."""
        rows = stored["positions"]
        if not isinstance(rows, list):
            raise TypeError("positions are a list")
        positions = tuple((row[0], row[1]) for row in rows if isinstance(row, list))
        return cls(**{**stored, "positions": positions})  # type: ignore[arg-type]


MOST_DIFFERENCES: Final = 100
"""Outputs that are listed with what a person and a judge say of them."""
_LONGEST: Final = 500
"""Characters of a text in such a list."""


@dataclass(frozen=True, slots=True)
class GoldDifference:
    """An output whose verdict a judge gives otherwise than the person, or not at all."""

    input: str
    """What was asked; its beginning where it is long."""
    output: str
    """Likewise."""
    person: str
    """The person's verdict, with the value where there is one: `pass 0.75`."""
    judge: str
    """The judge's."""
    reason: str
    """The judge's."""

    @classmethod
    def of(
        cls, *, asked: str, output: str, person: str, judge: str, reason: str
    ) -> "GoldDifference":
        """Return one whose texts are no longer than a list has room for."""
        return cls(_cut(asked), _cut(output), person, judge, _cut(reason))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _under(measured: float | None, least: float | None) -> bool:
    return least is not None and (measured is None or measured < least)


@dataclass(frozen=True, slots=True)
class GoldAgreement:
    """How a judge agrees with a person about the outputs that the person has graded."""

    n: int
    """Outputs whose verdict both have given."""
    ungraded: int
    """Outputs that the judge did not grade."""
    agreement: float | None
    """The share of equal verdicts; None: there are none to compare."""
    low: float | None
    """The lower end of its 95% interval (Wilson)."""
    high: float | None
    kappa: float | None
    """Cohen's κ of the verdicts; None: all are alike."""
    spearman: float | None
    """Rank correlation of the values; None: no scale, or no spread."""
    min_agreement: float | None
    """The least agreement the suite asks for; None: any."""
    differences: tuple[GoldDifference, ...] = ()
    """Where they differ, in the order of the gold; no more than `MOST_DIFFERENCES`. In values too
    where the rank correlation is too low, else in verdicts."""
    ranked: int | None = None
    """Outputs that both gave a value of a scale, which `spearman` is over; None: not told."""
    min_spearman: float | None = None
    """The least rank correlation the suite asks for; None: any, or no scale."""
    table: tuple[int, int, int, int] | None = None
    """How many both pass, the judge alone, the person alone, neither; None: not told."""

    @property
    def enough(self) -> bool:
        """Whether there are enough outputs to say anything."""
        return self.n >= ENOUGH

    @property
    def too_low(self) -> bool:
        """Whether the judge agrees less than the suite asks for, or cannot be measured."""
        return self.verdicts_too_low or self.ranks_too_low

    @property
    def verdicts_too_low(self) -> bool:
        """Whether the share of equal verdicts is under what is asked for, or unknown."""
        return _under(self.agreement, self.min_agreement)

    @property
    def ranks_too_low(self) -> bool:
        """Whether the rank correlation is under what is asked for, or unknown."""
        return _under(self.spearman, self.min_spearman)

    def as_json(self) -> JsonObject:
        """Return it as it is stored."""
        differences: list[Json] = [asdict(one) for one in self.differences]
        table: Json = None if self.table is None else list(self.table)
        return {**asdict(self), "differences": differences, "table": table}

    @classmethod
    def from_json(cls, stored: JsonObject) -> "GoldAgreement":
        """Read what `as_json` gave, now or earlier; a `TypeError` where it did not."""
        listed = stored.get("differences", [])
        if not isinstance(listed, list):
            raise TypeError("differences are a list")
        differences = tuple(
            GoldDifference(**one)  # type: ignore[arg-type]
            for one in listed
            if isinstance(one, dict)
        )
        counted = stored.get("table")
        table = tuple(counted) if isinstance(counted, list) else None
        return cls(**{**stored, "differences": differences, "table": table})  # type: ignore[arg-type]
