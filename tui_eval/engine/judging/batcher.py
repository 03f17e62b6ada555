"""Which questions go to a judge together, and when."""

import random
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final, TypeAlias

from tui_eval.engine.judging.question import Batch, Question

_CHOICE = 4
"""How many times a batch's size is looked at to choose from."""
LARGE: Final = 0.25
"""The share of the token budget from which an item goes alone."""

Kind: TypeAlias = tuple[str, str, str, float, float]
"""Scorer, purpose, form and scale: what the questions of one batch have in common."""


def kind(question: Question) -> Kind:
    """Give what a question shares with all others of its batch.

    A case may bring a scorer of the same name: what one request says must hold for all.
    """
    form = question.item.form
    return (question.scorer, question.purpose, form.kind, form.low, form.high)


class Batcher:
    """Holds a judge's waiting questions and forms batches of them.

    A batch holds questions of one scorer, never two of one case. It goes out when it is full, by
    number or by tokens; when its oldest question has waited `linger_s`; or at once when nothing
    more can come. What repair asks again goes before everything else.
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
        self._waiting: dict[Kind, dict[Question, float]] = {}
        self._alone: set[str] = set()
        """Scorers whose questions go alone."""

    def __len__(self) -> int:
        """Questions that wait."""
        formed = sum(len(batch.questions) for batch in self._ready)
        return formed + sum(len(group) for group in self._waiting.values())

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
            self._waiting.setdefault(kind(question), {})[question] = now

    def grade_alone(self, scorer: str) -> bool:
        """Let every question of a scorer go alone from now on; False where they do already."""
        if scorer in self._alone:
            return False
        self._alone.add(scorer)
        for of in [of for of in self._waiting if of[0] == scorer]:
            self._ready.extend(Batch((question,)) for question in self._waiting.pop(of))
        return True

    def ask_again(self, batches: list[Batch]) -> None:
        """Put what repair asks before everything else."""
        self._ready.extendleft(reversed(batches))

    def take(self, now: float, *, more_to_come: bool) -> Batch | None:
        """Give a batch that is to leave now; None: there is none.

        Args:
            now: Monotonic seconds.
            more_to_come: Whether further questions may come.
        """
        while self._ready:
            live = self._ready.popleft().live
            if live is not None:
                return live
        by_age = sorted(self._waiting, key=lambda of: next(iter(self._waiting[of].values())))
        for of in by_age:  # the scorer whose output waits longest goes first
            group = self._waiting[of]
            chosen, full = self._choose(group)
            if chosen and (
                full or not more_to_come or now - next(iter(group.values())) >= self._linger_s
            ):
                for question in chosen:
                    del group[question]
                if not group:
                    del self._waiting[of]
                self._rng.shuffle(chosen)
                return Batch(tuple(chosen))
        return None

    def due(self) -> float | None:
        """When the question that has waited longest has waited long enough; None: none waits."""
        oldest = [next(iter(group.values())) for group in self._waiting.values() if group]
        return min(oldest) + self._linger_s if oldest else None

    def drop_withdrawn(self) -> None:
        """Forget what nobody waits for any more."""
        self._ready = _live(self._ready)
        for of, group in list(self._waiting.items()):
            left = {q: since for q, since in group.items() if not q.holder.withdrawn}
            if left:
                self._waiting[of] = left
            else:
                del self._waiting[of]

    def drain(self) -> list[Question]:
        """Give everything that waits, and forget it."""
        found = [question for batch in self._ready for question in batch.questions]
        found += [question for group in self._waiting.values() for question in group]
        self._ready.clear()
        self._waiting.clear()
        return found

    def _choose(self, group: dict[Question, float]) -> tuple[list[Question], bool]:
        """Choose the questions of a batch, the oldest among them; say whether it is full."""
        oldest, *others = islice(group, _CHOICE * self._size)
        self._rng.shuffle(others)
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

    def _others(self, near: list[Question], group: dict[Question, float]) -> Iterator[Question]:
        """Give whom to choose from: those near the oldest, then all, should these be few cases."""
        yield from near
        yield from islice(group, _CHOICE * self._size, None)


def _live(batches: deque[Batch]) -> deque[Batch]:
    return deque(live for batch in batches if (live := batch.live) is not None)
