"""Which questions go to a judge together, and when."""

import logging
import random
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from tui_eval.engine.judging.question import Batch, Question
from tui_eval.store.write.judges.measured_judges import GOLD

HURRIED_S = 2.0
"""Seconds that what a person waits for waits for company, or `linger`, if less."""
_CHOICE = 4
"""How many times a batch's size is looked at to choose from."""
LARGE: Final = 0.25
"""The share of the token budget from which an item goes alone."""

log = logging.getLogger(__name__)


class BatchKind(NamedTuple):
    """What the questions of a batch have in common."""

    scorer: str
    purpose: str
    form: str
    low: float
    high: float


def kind(question: Question) -> BatchKind:
    """Return what a question shares with all others of its batch.

    A case may bring a scorer of the same name: what one request says must hold for all.
    """
    form = question.item.form
    return BatchKind(question.scorer, question.purpose, form.kind, form.low, form.high)


class _Group:
    """The questions of one kind that wait for company, oldest first."""

    def __init__(self, linger_s: float) -> None:
        self.due: dict[Question, float] = {}
        """When each has waited long enough (monotonic seconds)."""
        self.cases: Counter[int] = Counter()
        """How many there are of each case."""
        self.tokens = 0
        self._linger_s = linger_s
        self._hurried: dict[Question, float] = {}

    def add(self, question: Question, now: float) -> None:
        """Let a question wait from now on."""
        self.due[question] = now + self._linger_s
        self.cases[question.case] += 1
        self.tokens += question.item.tokens
        if question.hurried:
            self._hurried[question] = now + min(self._linger_s, HURRIED_S)

    def remove(self, question: Question) -> None:
        """Take a question out."""
        del self.due[question]
        self._hurried.pop(question, None)
        self.tokens -= question.item.tokens
        self.cases[question.case] -= 1
        if not self.cases[question.case]:
            del self.cases[question.case]

    @property
    def oldest_due(self) -> float:
        """When its oldest question has waited long enough."""
        return next(iter(self.due.values()))

    @property
    def leaves_at(self) -> float:
        """When it has waited long enough: its oldest question, or one that a person waits for."""
        return min([self.oldest_due, *islice(self._hurried.values(), 1)])


class Batcher:
    """Holds a judge's waiting questions and forms batches of them.

    A batch holds questions of one scorer, never two of one case. It goes out when it is full, by
    number or by tokens; when its oldest question has waited `linger_s`; or at once when nothing
    more can come. Gold comes all at once, so it waits for nobody; what a person has scored again
    waits for what comes with it and not for targets. What repair asks again goes before everything
    else.
    """

    def __init__(self, size: int, token_budget: int, linger_s: float, rng: random.Random) -> None:
        """Make a batcher.

        Args:
            size: Questions of one batch at most.
            token_budget: Tokens of one batch's items at most, as `Item` estimates them.
            linger_s: Seconds a question waits for company at most.
            rng: Mixes targets and order.
        """
        self._size = size
        self._token_budget = token_budget
        self._linger_s = linger_s
        self._rng = rng
        self._ready: deque[Batch] = deque()
        self._waiting: dict[BatchKind, _Group] = {}
        self._alone: set[str] = set()
        """Scorers whose questions go alone."""

    def __len__(self) -> int:
        """Questions that wait."""
        formed = sum(len(batch.questions) for batch in self._ready)
        return formed + sum(len(group.due) for group in self._waiting.values())

    def add(self, question: Question, now: float) -> None:
        """Let a question wait for company, unless it goes alone.

        Args:
            question: The question.
            now: Monotonic seconds.
        """
        too_large = question.item.tokens > self._token_budget * LARGE
        alone = question.alone or question.failed_before or question.scorer in self._alone
        if alone or too_large or self._size == 1:
            self._ready.append(Batch((question,)))
        else:
            group = self._waiting.setdefault(kind(question), _Group(self._linger_s))
            group.add(question, now)

    def grade_alone(self, scorer: str) -> bool:
        """Let every question of a scorer go alone from now on; False where they do already."""
        if scorer in self._alone:
            return False
        self._alone.add(scorer)
        for of in [of for of in self._waiting if of.scorer == scorer]:
            self._ready.extend(Batch((question,)) for question in self._waiting.pop(of).due)
        return True

    def ask_again(self, batches: list[Batch]) -> None:
        """Put what repair asks before everything else."""
        self._ready.extendleft(reversed(batches))

    def take(self, now: float, *, more_to_come: bool) -> Batch | None:
        """Return a batch that is to leave now; None: there is none.

        Args:
            now: Monotonic seconds.
            more_to_come: Whether further questions may come.
        """
        while self._ready:
            live = self._ready.popleft().live
            if live is not None:
                return live
        for of in sorted(self._waiting, key=lambda of: self._waiting[of].oldest_due):
            group = self._waiting[of]  # the scorer whose output waits longest goes first
            leaves = not more_to_come or of.purpose == GOLD or now >= group.leaves_at
            if not leaves and len(group.cases) < self._size and group.tokens <= self._token_budget:
                continue
            chosen, full = self._choose(group)
            if full or leaves:
                for question in chosen:
                    group.remove(question)
                if not group.due:
                    del self._waiting[of]
                self._rng.shuffle(chosen)
                why = "it is full" if full else "it waits no longer"
                log.debug("%d questions of %s leave: %s", len(chosen), of.scorer, why)
                return Batch(tuple(chosen))
        return None

    def due(self) -> float | None:
        """When the next batch has waited long enough; None: none waits."""
        return min((group.leaves_at for group in self._waiting.values()), default=None)

    def drop_withdrawn(self) -> None:
        """Forget what nobody waits for any more."""
        self._ready = deque(live for batch in self._ready if (live := batch.live) is not None)
        for of, group in list(self._waiting.items()):
            for question in [question for question in group.due if question.holder.withdrawn]:
                group.remove(question)
            if not group.due:
                del self._waiting[of]

    def forget(self) -> None:
        """Forget everything."""
        self._ready.clear()
        self._waiting.clear()

    def _choose(self, group: _Group) -> tuple[list[Question], bool]:
        """Choose the questions of a batch, the oldest among them; say whether it is full.

        Of the others those go first whose case has most answers waiting: answers to one case that
        are left over need a batch each.
        """
        oldest, *others = islice(group.due, _CHOICE * self._size)
        self._rng.shuffle(others)
        others.sort(key=lambda question: -group.cases[question.case])
        chosen, cases, tokens = [oldest], {oldest.case}, oldest.item.tokens
        fits = True
        for question in self._others(others, group):
            if len(chosen) == self._size:
                break
            if question.case in cases:
                continue
            if tokens + question.item.tokens > self._token_budget:
                fits = False
                continue
            chosen.append(question)
            cases.add(question.case)
            tokens += question.item.tokens
        return chosen, len(chosen) == self._size or not fits

    def _others(self, near: list[Question], group: _Group) -> Iterator[Question]:
        """Yield whom to choose from: those near the oldest, then all, should these be few cases."""
        yield from near
        yield from islice(group.due, _CHOICE * self._size, None)
