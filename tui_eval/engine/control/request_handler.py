"""Where requests are answered while the engine works."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from tui_eval.engine import departure
from tui_eval.engine.control import changed_scorers, previous_spec, verbs
from tui_eval.engine.control.verbs import MoveResult, RequestAnswer
from tui_eval.engine.dispatch.workers import Host, Workers
from tui_eval.engine.preflight.readiness import judges_of_cases
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.json import JsonObject
from tui_eval.model.states import RunState
from tui_eval.store import requests
from tui_eval.store.read import request_queries, run_queries, suite_queries
from tui_eval.store.read.consignment_queries import awaited_requests
from tui_eval.store.read.trials.open_trials import open_count
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import RequestRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import request_moves, run_writes, trial_verbs
from tui_eval.suites.spec import Suite
from tui_eval.targets.base import at_most

_NO_ROOM = "disk"
"""The word of `stopped_by` for a run that waits for room."""
_ONLY_RETRIES: Final = ", for what is retried: all else is asked in bulk"
"""What a number of calls at once means where nothing else is asked live."""
_BEGINNING = frozenset({Verb.RETRY, Verb.RESCORE, Verb.UNCANCEL, Verb.RESUME, Verb.CONTINUE})
"""What makes work: an engine on its way out leaves it alone, and says so as it goes."""

_NOT_OF_SWEEPS: Final[dict[str, str]] = {
    Verb.RETRY: "a sweep makes each call once: start another one",
    Verb.SET_LIMIT: "a sweep sets the concurrency itself, level by level",
}
"""Why something is not done in a sweep."""

NOTHING_AT_PROVIDERS: Final = "the run was cancelled, and nothing of it is under way in bulk"

log = logging.getLogger(__name__)


class RequestHandler:
    """Takes a run's pending requests in order and answers each with a named outcome."""

    def __init__(
        self,
        session: Session,
        store: RunStore,
        workers: Workers,
        host: Host,
    ) -> None:
        """Take requests from now on.

        Args:
            session: What requests may change: scorers, judges, caps.
            store: Where they are.
            workers: Who do what they ask for.
            host: Is told to leave the run.
        """
        self._run = store.run
        self._reading = store.reading
        self._writer = store.writer
        self._session = session
        self._workers = workers
        self._host = host
        self.paused = False
        """Whether a person has paused the run."""
        self._lacking: str | None = None
        """Why it is paused beside that: there is no room for the files of its trials."""

    async def tell_room(self, lacking: str | None) -> None:
        """Pause the run while a disk is full, and have it go on when there is room again.

        Args:
            lacking: Why trials wait for room; None: none does.
        """
        if lacking == self._lacking or self.paused:
            return
        self._lacking = lacking
        self._workers.set_open(lacking is None)

        def move(tx: Tx) -> None:
            run = run_queries.run(tx.db, self._run)
            if lacking is not None and run.state is RunState.RUNNING:
                run_writes.move(tx, self._run, RunState.PAUSED, reason=lacking, stopped_by=_NO_ROOM)
            elif lacking is None and run.stopped_by == _NO_ROOM:
                run_writes.move(tx, self._run, RunState.RUNNING)

        await self._writer.write(move)

    async def answer_pending(self) -> None:
        """Answer all that is pending."""
        for request in await self._reading.call(request_queries.requests, self._run):
            if self._host.leaving and request.verb in _BEGINNING:
                continue
            try:
                await self._answer(request)
            except ValueError as error:  # a request that makes no sense is its asker's mistake
                await self._say(request, RequestAnswer(Outcome.CLOSED, str(error)))
            await self._log_answer(request.id)

    async def _log_answer(self, request_id: int) -> None:
        answered = await self._reading.call(request_queries.request, request_id)
        if answered is not None:
            log.info(
                "request %d %s by %s: %s, %s",
                answered.id,
                answered.verb,
                answered.asked_by,
                answered.outcome,
                answered.detail,
            )

    async def _answer(self, request: RequestRow) -> None:
        if self._session.settings.sweep is not None and request.verb in _NOT_OF_SWEEPS:
            await self._say(request, RequestAnswer(Outcome.CLOSED, _NOT_OF_SWEEPS[request.verb]))
            return
        match Verb(request.verb):
            case (
                Verb.CANCEL
                | Verb.RETRY
                | Verb.RESCORE
                | Verb.UNCANCEL
                | Verb.WITHDRAW
                | Verb.GRADE as verb
            ):
                await self._move_trials(request, verb)
            case Verb.PAUSE:
                await self._pause(request)
            case Verb.CONTINUE:
                await self._continue(request)
            case Verb.RESUME:
                await self._resume(request)
            case Verb.STOP:
                await self._say(request, RequestAnswer(Outcome.ACCEPTED, "stopping"))
                self._host.leave(departure.STOPPED)
            case Verb.CANCEL_RUN:
                await self._cancel_run(request)
            case Verb.SET_LIMIT:
                await self._set_limit(request)

    async def _move_trials(self, request: RequestRow, verb: Verb) -> None:
        if verb is Verb.RESCORE:
            await self._use_scorers(request)
            self._workers.judging.reopen()
            if verbs.asks_anew(request.args):
                self._workers.judging.ask_anew()
        # an engine that died may have begun: what it moved is not moved, nor asked, a second time
        begun = await self._reading.call(request_moves.moved_count, request.id)
        trials = chosen = await self._reading.call(verbs.selected, self._run, request.args)
        if begun:
            trials = await self._reading.call(request_moves.not_moved_yet, request.id, chosen)
        if verb is Verb.RESCORE:
            self._workers.judging.hurry(chosen)
        replaced = await self._reading.call(
            previous_spec.scorers_asking_otherwise, request.id, self._session.suite
        )
        move = await self._reading.call(
            verbs.move_trials,
            self._run,
            verb,
            request.args,
            request=request.id,
            replaced=replaced,
        )
        found = MoveResult(begun)
        for begin in range(0, len(trials), verbs.PORTION):
            portion = trials[begin : begin + verbs.PORTION]

            def apply(tx: Tx, trials: Sequence[int] = portion) -> MoveResult:
                return move(tx, trials)

            found.add(await self._writer.write(apply))
            if verb is Verb.CANCEL:  # not before: until it is written, they would be taken again
                self._workers.withdraw(portion)
        if verb is Verb.WITHDRAW and found.moved:
            await self._score_as_before(request)

        def close(tx: Tx) -> None:
            answer = verbs.answer_for(tx, verb, trials, found, begun=begun)
            requests.answer(tx, request.id, answer.outcome, answer.detail)
            if found.moved and verb in _BEGINNING and not (self.paused or self._lacking):
                run_writes.move(tx, self._run, RunState.RUNNING)

        await self._writer.write(close)
        if found.moved:
            self._workers.look_again()

    async def _use_scorers(self, request: RequestRow) -> None:
        """Take the scorers and judges of an edited suite, where the request names them.

        A run that was started without its judges has them from now on.

        Raises:
            ValueError: they are none, or nobody has trusted the run with what they want.
        """
        session, args = self._session, request.args
        if "scorer_specs" not in args and not self._wants_judges(args):
            return
        changed = changed_scorers.edited(session.suite, args)
        names = await self._reading.call(judges_of_cases, self._run, changed)
        settings = await asyncio.to_thread(
            changed_scorers.allowed, changed, session.settings, args, names
        )

        def change(tx: Tx) -> tuple[Suite, Settings]:
            previous_spec.keep(tx, self._run, request.id)
            run_writes.set_spec(tx, self._run, changed.model_dump_json())
            run_writes.set_settings(tx, self._run, settings.as_json())
            return changed, settings

        await self._score_with(change)

    async def _score_as_before(self, request: RequestRow) -> None:
        """Take the scorers back that a request has brought whose scores are withdrawn."""
        if await self._reading.call(previous_spec.brought_scorers, self._run, request.args):
            await self._score_with(lambda tx: previous_spec.put_back(tx, self._run, request.args))

    async def _score_with(self, change: Callable[[Tx], tuple[Suite, Settings] | None]) -> None:
        """Score with other scorers from now on, as the change that is written down says."""

        def write(tx: Tx) -> tuple[Suite, Settings, int] | None:
            found = change(tx)
            if found is None:
                return None
            trial_verbs.unscore_open(
                tx, self._run
            )  # nothing of what is being scored is written then
            return *found, suite_queries.spec_change(tx.db, self._run)

        found = await self._writer.write(write)
        if found is not None:
            self._session.score_with(*found)
            await self._session.off_loop.bounded(self._session.gold)
            await self._workers.use_judges()
        self._workers.look_again()

    def _wants_judges(self, args: JsonObject) -> bool:
        """Whether scorers are to grade again that a launch without judges has left out."""
        if not self._session.settings.no_judge:
            return False
        named = args.get("scorers")
        asking = {scorer.name for scorer in self._session.suite.scorers if scorer.asks_judge}
        return (
            not isinstance(named, list) or not named or bool(asking.intersection(map(str, named)))
        )

    async def _pause(self, request: RequestRow) -> None:
        if self.paused:
            await self._say(request, RequestAnswer(Outcome.ALREADY, "the run is paused"))
            return
        self.paused = True
        self._workers.set_open(False)
        await self._say(
            request,
            RequestAnswer(Outcome.ACCEPTED),
            RunState.PAUSED,
            "paused",
            "person",
        )

    async def _continue(self, request: RequestRow) -> None:
        if not self.paused:
            why = "the run is not paused"
            if self._lacking is not None:
                why = f"{self._lacking}: it resumes by itself once there is room"
            await self._say(request, RequestAnswer(Outcome.ALREADY, why))
            return
        self.paused, self._lacking = False, None  # what still waits for room is told anew
        self._workers.judging.reopen()
        await self._say(request, RequestAnswer(Outcome.ACCEPTED), RunState.RUNNING)
        self._workers.set_open(True)

    async def _resume(self, request: RequestRow) -> None:
        row = await self._reading.call(run_queries.run, self._run)
        if why := requests.why_cancelled(row.state, row.name):
            if request.args.get("collect") is True:
                await self._collect_cancelled(request)
                return
            await self._say(request, RequestAnswer(Outcome.CLOSED, why))
            return
        if await self._reading.call(verbs.only_grades_missing, self._run):
            await self._use_scorers(request)
        self._workers.judging.reopen()
        settings = self._session.resumed(request.args)
        self._workers.spend_caps.caps = self._session.caps()
        await self._writer.write(partial(run_writes.set_settings, run=self._run, settings=settings))
        errored = request.args.get("errored") != "leave" and self._session.settings.sweep is None
        trials = await self._reading.call(verbs.to_reopen, self._run, request.id, errored=errored)
        for begin in range(0, len(trials), verbs.PORTION):
            portion = trials[begin : begin + verbs.PORTION]
            await self._writer.write(partial(verbs.reopen, trials=portion, request=request.id))
        self.paused, self._lacking = False, None
        left = await self._reading.call(open_count, self._run)
        await self._say(request, verbs.resumed(left), RunState.RUNNING)
        self._workers.set_open(True)
        self._workers.look_again()

    async def _collect_cancelled(self, request: RequestRow) -> None:
        """Have what providers did for a cancelled run taken; nothing of it is asked any more."""
        awaited = await self._reading.call(awaited_requests, [self._run])
        if not awaited:
            await self._say(request, RequestAnswer(Outcome.ALREADY, NOTHING_AT_PROVIDERS))
            return
        told = ", ".join(one.words for one in awaited)
        await self._say(request, RequestAnswer(Outcome.ACCEPTED, f"looked for {told}"))
        self._host.leave(departure.CANCELLED)

    async def _cancel_run(self, request: RequestRow) -> None:
        self._workers.set_open(False)

        def close(tx: Tx) -> None:
            answer = verbs.cancel_run(tx, self._run, request.id)
            requests.answer(tx, request.id, answer.outcome, answer.detail)

        await self._writer.write(close)
        self._workers.withdraw(self._workers.flights())
        self._host.leave(departure.CANCELLED)

    async def _set_limit(self, request: RequestRow) -> None:
        endpoint = str(request.args.get("endpoint"))
        limits = self._workers.limits()
        if endpoint not in limits:
            raise ValueError(f"this run has no endpoint {endpoint!r}")
        now = limits[endpoint]
        by, to = request.args.get("by"), request.args.get("to")
        wanted = int(str(to)) if to is not None else now + int(str(by or 0))
        if wanted < 1:
            raise ValueError("concurrency is at least 1; pause the run to have none")
        most = self._workers.most(endpoint)
        if wanted > most:
            raise ValueError(at_most(most))
        if self._workers.set_limit(endpoint, wanted):
            only = _ONLY_RETRIES if self._workers.only_retries(endpoint) else ""
            await self._say(request, RequestAnswer(Outcome.ACCEPTED, f"{now} → {wanted}{only}"))
        else:
            await self._say(request, RequestAnswer(Outcome.ALREADY, f"it is {now}"))

    async def _say(
        self,
        request: RequestRow,
        answer: RequestAnswer,
        state: RunState | None = None,
        reason: str | None = None,
        stopped_by: str | None = None,
    ) -> None:
        def write(tx: Tx) -> None:
            requests.answer(tx, request.id, answer.outcome, answer.detail)
            if state is not None:
                run_writes.move(tx, self._run, state, reason=reason, stopped_by=stopped_by)

        await self._writer.write(write)
