"""One cap, of money or tokens: what calls are reckoned at, and whether the next one fits."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from tui_eval.engine.coordination import Coordination

Payer: TypeAlias = int | str
"""Who makes calls: a column by its index, a judge by its name, or the simulated user
(`call_spending.USER`). Each has prices and sizes of its own."""

_ROUNDING: Final = 1e-9
"""The share of a cap by which sums may differ that were added up in another order."""


@dataclass(frozen=True, slots=True)
class CallBound:
    """What one call takes at most, as far as that is known before any has been made."""

    cost_usd: float | None = None
    """None: unknown. 0.0: known to be free."""
    tokens: int | None = None


@dataclass(slots=True)
class PayerCalls:
    """The calls of one payer, in the order in which they began."""

    in_flight: int = 0
    answered: int = 0
    """Calls of which it is known what they took."""
    _ended: int = 0
    """Calls that ended, as did all that began before them: slow ones may be the dear ones."""
    _since: deque[list[bool]] = field(default_factory=deque)
    """Whether those that began since have ended."""

    def few(self, mine: int = 0) -> bool:
        """Return whether one more may begin that is reckoned at what others took.

        Those that began after k others had all ended are k + 1 at most. One of them, on average, is
        larger than all of the k, however much calls differ and whichever of them are slow: by one
        call on average a cap is exceeded.

        Args:
            mine: How many of those in flight are over once it begins.
        """
        return len(self._since) - mine <= min(self.answered, self._ended)

    def before(self, answered: int) -> None:
        """Learn how many were answered before any of these began."""
        self.answered = self._ended = answered

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count a call that is in flight."""
        ended = [False]
        self._since.append(ended)
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            ended[0] = True
            while self._since and self._since[0][0]:
                self._since.popleft()
                self._ended += 1


@dataclass(slots=True)
class GradingBacklog:
    """What is to be graded of what targets were asked for."""

    coordination: Coordination
    batches: Mapping[str, int] = field(default_factory=dict)
    """The judges, and how many outputs each grades in a call."""
    questions: dict[str, int] = field(default_factory=dict)
    """How often an output has put a question to each judge, at most."""
    bought: int = 0
    """Outputs that targets gave."""

    @property
    def ungraded(self) -> int:
        """How many outputs there are that wait for a grade, or may once they are there."""
        return self.coordination.ungraded

    @property
    def rests(self) -> bool:
        """Whether no judge is asked for some time: nobody waits for its grades meanwhile."""
        return self.coordination.judges_rest

    def by(self, batches: Mapping[str, int]) -> None:
        """Learn which judges there are, and how many outputs each grades in a call."""
        self.batches = batches
        self.questions.clear()

    def puts(self, judge: str, questions: int) -> None:
        """Learn how many questions an output puts to a judge."""
        self.questions[judge] = max(self.questions.get(judge, 0), questions)

    @property
    def asked(self) -> Mapping[str, int]:
        """How many questions an output puts to each judge; one, before any has put some."""
        return self.questions or dict.fromkeys(self.batches, 1)

    def few(self, ungraded: int) -> bool:
        """Return whether one more may be bought while nobody knows what grades cost.

        A batch may, and as many more as have been settled since.
        """
        batch = max(self.batches.values(), default=1)
        return ungraded < batch + max(0, self.bought - ungraded)


@dataclass(slots=True)
class SpendCap:
    """One cap, of money or of tokens alike.

    What is spent, what is in flight and the next call together stay below it, and so do, for a
    target's call, the grades of the outputs that are not graded yet. A call is reckoned

    - at its bound, where that is known of all that are in flight and there is room for them; else
    - at the largest that its payer has made, while there are few of them (`PayerCalls.few`); else
    - not at all: it begins alone, and while it is in flight no other begins that takes anything.

    A grade is reckoned at the largest share that a question had of a judge's call. Before one is
    known, targets take half the cap at most while outputs are ungraded, and a batch at a time (see
    `GradingBacklog.few`).
    """

    calls: defaultdict[Payer, PayerCalls]
    grading: GradingBacklog
    cap: float | None = None
    spent: float = 0.0
    doubtful: float = 0.0
    """What calls may have taken of which no answer came (their engine was killed, or they were
    ended), and about what those took whose endpoint did not say."""
    bounds: dict[Payer, float | None] = field(default_factory=dict)
    consigned: dict[str, float | None] = field(default_factory=dict)
    """What each consignment may still take at most, by its token; None: unknown."""
    _largest: dict[Payer, float] = field(default_factory=dict)
    _shares: dict[Payer, float] = field(default_factory=dict)
    """The largest that one question took of a judge's call."""

    @property
    def total(self) -> float:
        """What is or may be spent."""
        return self.spent + self.doubtful

    def next(self, payer: Payer) -> float | None:
        """Return what a payer's next call is reckoned at; None: unknown."""
        return self._largest.get(payer, self.bounds.get(payer))

    def most(self, payer: Payer) -> float | None:
        """Return what no call of a payer exceeds; None: unknown."""
        bound = self.bounds.get(payer)
        return None if bound is None else max(bound, self._largest.get(payer, 0.0))

    def grades(self, outputs: int) -> float | None:
        """Return what grading outputs is reckoned at; None: unknown."""
        one = 0.0
        for judge, questions in self.grading.asked.items():
            if self.bounds.get(judge) == 0:
                continue
            if judge not in self._shares:
                return None
            one += self._shares[judge] * questions
        return one * outputs

    def reached(self) -> bool:
        """Return whether nothing is left."""
        return self.cap is not None and self.total >= self.cap

    def fits(self, payer: Payer, mine: int = 0) -> bool:
        """Return whether a payer's next call may begin now.

        Args:
            payer: Who makes it.
            mine: How many of the payer's calls in flight are over once it begins.
        """
        if self.cap is None or self.bounds.get(payer) == 0:
            return True
        if isinstance(payer, str):
            return self._fits(payer, self.cap, 0.0, mine)
        ungraded = self.grading.ungraded
        grades = self.grades(ungraded + 1)
        if grades is not None:
            return self._fits(payer, self.cap, grades, mine)
        if not ungraded or self.grading.rests:
            return self._fits(payer, self.cap, 0.0, mine)
        return self.grading.few(ungraded) and self._fits(payer, self.cap / 2, 0.0, mine)

    def _fits(self, payer: Payer, cap: float, grades: float, mine: int) -> bool:
        over = {payer: mine}
        most, held = self.most(payer), self._held(self.most, grades, over)
        if most is not None and held is not None and self.total + held + most <= cap:
            return True
        next_, held = self.next(payer), self._held(self.next, grades, over)
        if held is None:
            return False
        if next_ is None:
            return self.total + held < cap
        return self.calls[payer].few(mine) and self.total + held + next_ <= cap

    def _held(
        self,
        size: Callable[[Payer], float | None],
        grades: float,
        over: Mapping[Payer, int],
        beside: str | None = None,
    ) -> float | None:
        """Return what calls in flight and grades may take; None: one is of unknown size."""
        targets = judges = 0.0
        for consignment, consigned in self.consigned.items():
            if consignment == beside:
                continue
            if consigned is None:
                return None
            targets += consigned
        for payer, calls in self.calls.items():
            in_flight = calls.in_flight - over.get(payer, 0)
            if not in_flight or self.bounds.get(payer) == 0:
                continue
            one = size(payer)
            if one is None:
                return None
            if payer in self.grading.batches:
                judges += one * in_flight
            else:
                targets += one * in_flight
        return targets + max(judges, grades)  # what is being graded is ungraded yet

    def exceeded(self) -> bool:
        """Return whether what is under way may exceed the cap: it has been lowered meanwhile."""
        held = self._held(self.most, 0.0, {})
        if self.cap is None or held is None:
            return False
        return self.total + held > self.cap * (1 + _ROUNDING)

    def share_left(self, beside: str | None = None) -> float:
        """Return which share of the cap is neither spent nor held; 1.0 without a cap.

        Args:
            beside: The token of a consignment whose room counts as left.
        """
        if self.cap is None:
            return 1.0
        held = self._held(self.most, 0.0, {}, beside)
        return 0.0 if held is None or not self.cap else 1 - (self.total + held) / self.cap

    def fits_most(self, amount: float | None) -> bool:
        """Return whether what takes so much at most may begin now; None: nobody knows how much."""
        if self.cap is None:
            return True
        held = self._held(self.most, 0.0, {})
        return amount is not None and held is not None and self.total + held + amount <= self.cap

    def took(
        self, payer: Payer, amount: float | None, about: float | None = None, questions: int = 1
    ) -> None:
        """Add what a call took.

        Args:
            payer: Who made it.
            amount: What is known; None: nothing is.
            about: What it took beside that, as an estimate; None: there is none.
            questions: How many it put to a judge.
        """
        if amount is None and about is None:
            self.doubt(payer)
            return
        self.spent += amount or 0.0
        self.doubtful += about or 0.0
        took = (amount or 0.0) + (about or 0.0)
        self.seen(payer, took)
        self._shares[payer] = max(self._shares.get(payer, 0.0), took / questions)

    def seen(self, payer: Payer, amount: float | None) -> None:
        """Learn that a payer has made a call of a size."""
        if amount is not None:
            self._largest[payer] = max(self._largest.get(payer, 0.0), amount)

    def doubt(self, payer: Payer, calls: int = 1) -> None:
        """Add what calls may have taken of which no answer came."""
        self.doubtful += calls * (self.next(payer) or 0.0)
