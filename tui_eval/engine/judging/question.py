"""What is asked of a judge about one output, until it is answered or given up."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Protocol

from tui_eval.engine.limits.call_permit import CallHistory
from tui_eval.scoring.judge.item import Item
from tui_eval.scoring.judge.reading import Finding, PartFinding
from tui_eval.store.write.judges.judge_writes import NewFinding

GRADE: Final = "grade"
"""The purpose of a question whose answer settles its trial."""


class AnswerRecipient(Protocol):
    """Who waits for an answer."""

    @property
    def withdrawn(self) -> bool:
        """Whether nobody waits any more: the answer is dropped."""


class Round(StrEnum):
    """How a batch came to be asked."""

    FIRST = "first"
    HALF = "half"
    ALONE = "alone"
    AGAIN = "alone again"


@dataclass(slots=True, eq=False)
class Question:
    """One thing asked of one judge about one output.

    A reply may answer a part of it (some requirements of several); the rest is asked again.
    """

    holder: AnswerRecipient
    trial: int | None
    """None: not of a trial, as gold."""
    case: int
    """Two answers to one case never share a batch."""
    scorer: str
    judge: str
    repeat: int
    item: Item
    key: bytes
    purpose: str = GRADE
    alone: bool = False
    """Whether it is to be graded in a request of its own."""
    hurried: bool = False
    """Whether a person waits for it while the run goes on."""
    failed_before: bool = False
    """Whether it was asked before and came to no grade: it goes alone, lest it spoils a batch."""
    parts: dict[int, PartFinding] = field(default_factory=dict)
    reason: str = ""
    problem: str | None = None
    """Why it is not answered, or not wholly; None while it may still be."""
    call: int | None = None
    """The last call that asked it."""
    position: int | None = None
    origin: int | None = None
    """The finding of another trial that answers it."""
    opening: int | None = None
    """The trial's, where it is of one; see `trial_moves.stands`."""
    consigned: bool = False
    """Whether its answer is to come out of a consignment: nothing waits for it in memory."""
    asked_before: bool = False
    """Whether an earlier consignment has asked it, on the same opening."""
    own: bool = False
    """Whether the store has its answer for this very trial already."""

    @property
    def in_bulk(self) -> bool:
        """Whether it may be asked in bulk: no gold, no audit, nothing that a person waits for."""
        return self.trial is not None and self.purpose == GRADE and not self.alone

    @property
    def bulk_round(self) -> Round:
        """How it comes to be asked in bulk: what a provider never did is asked as it was."""
        return Round.ALONE if self.asked_before and self.failed_before else Round.FIRST

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers without an answer."""
        return tuple(number for number in self.item.form.numbers if number not in self.parts)

    @property
    def closed(self) -> bool:
        """Whether it is answered or given up."""
        return self.problem is not None or not self.missing

    @property
    def asked(self) -> Item:
        """What is still to be asked."""
        return self.item.only(self.missing) if self.parts else self.item

    def take(self, finding: Finding) -> None:
        """Add what a judge said; what is known already stays."""
        self.parts = {**finding.parts, **self.parts}
        self.reason = self.reason or finding.reason

    @property
    def finding(self) -> Finding:
        """All that was said so far."""
        return Finding(dict(sorted(self.parts.items())), self.reason)

    def fact(self) -> NewFinding:
        """Return it as the store keeps it."""
        return NewFinding(
            trial=self.trial,
            scorer=self.scorer,
            judge=self.judge,
            purpose=self.purpose,
            repeat=self.repeat,
            numbers=self.item.form.numbers,
            key=self.key,
            made=self.finding.as_json(),
            problem=self.problem,
            call=self.call,
            position=self.position,
            origin=self.origin,
        )


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions of one scorer that go to a judge in one request."""

    questions: tuple[Question, ...]
    round: Round = Round.FIRST
    tries: CallHistory = field(default_factory=CallHistory, compare=False)
    retries: int | None = None
    """Further attempts after a failure; None: as many as its judge's. A part of a refused batch
    has fewer."""
    refused: str | None = None
    """Why the judge refused it; None: it did not, or it may be asked again as it is."""

    @property
    def live(self) -> "Batch | None":
        """The batch without what nobody waits for any more; None: nothing is left."""
        left = tuple(question for question in self.questions if not question.holder.withdrawn)
        return replace(self, questions=left) if left else None

    @property
    def tried(self) -> bool:
        """Whether its questions were asked before, in it or in the batch it is a part of."""
        return bool(self.tries.attempts) or self.retries is not None
