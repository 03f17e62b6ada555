"""Questions about consignments: which are open, what they hold, how far they are."""

import json
import sqlite3
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.format import endpoint_folder, endpoint_host, many
from tui_eval.store.read.bulk_waiting import LEFT_AT, STILL_THERE
from tui_eval.store.read.figures.call_spending import NO_LINE
from tui_eval.store.read.trials.open_trials import OPEN_TRIAL, OpenTrial, open_trial
from tui_eval.store.text import unpack
from tui_eval.store.write.consignment_writes import WhoIsAsked

NEVER_DONE: Final = ("expired", "cancelled", NO_LINE)
"""The kinds of failures of requests that the provider never did: they use up no retry."""

NAMED: Final = "c.consignment = ?1 AND c.ordinal IN (SELECT value FROM json_each(?2))"
"""Rows `c` (SQL) of a consignment by their ordinals, a list in JSON."""

UNTOLD: Final = (
    "c.consignment = ?1 AND c.ordinal > ?2 AND c.line IS NULL AND a.state = 'sent' "
    "ORDER BY c.ordinal LIMIT ?3"
)
"""Rows `c` (SQL) of a consignment behind an ordinal for which no line came, with their calls `a`: a
target's attempts, or a judge's calls."""

GRADE_AWAITED: Final = (
    "SELECT 1 FROM consigned_questions q JOIN trials t ON t.id = q.trial WHERE q.call = c.call "
    "AND t.opening = q.opening AND t.state = 'scoring'"
)
"""A row (SQL) where a trial waits for an item of a judge's consigned call `c`."""

_ROW: Final = (
    "SELECT k.id, k.target, k.number, k.endpoint, k.token, k.provider_id, k.state, k.requests, "
    "k.done, k.unknown, k.problem, k.most_usd, k.most_tokens, k.formed_at, k.sent_at, k.ends_by, "
    "k.cancelled_at, k.taken_at, k.asked FROM consignments k "
)


@dataclass(frozen=True, slots=True)
class ConsignmentRow:
    """Many requests that were, or are to be, sent to a provider as one."""

    id: int
    target: str
    number: int
    """Of the target's in its run, from 1."""
    endpoint: str
    token: str
    provider_id: str | None
    """None: nobody knows that the provider has it."""
    state: str
    """`forming`, `sent`, `ended`, `expired`, `cancelled`, `failed` or `lost`."""
    requests: int
    done: int | None
    """As the provider counts; None: it has not said."""
    unknown: int
    problem: str | None
    most_usd: float | None
    most_tokens: int | None
    formed_at: float
    sent_at: float | None
    ends_by: float | None
    cancelled_at: float | None
    taken_at: float | None
    """When nothing of it was left to take (Unix seconds); None: it is open."""
    asked: WhoIsAsked
    """What `target` is the name of."""


@dataclass(frozen=True, slots=True)
class ConsignedTrial:
    """A request of a consignment, and the trial that waits for what comes of it."""

    ordinal: int
    attempt: int
    work: OpenTrial
    """The trial as it is; its opening is the one that it was consigned on."""
    line: bytes | None
    """Digest of what came for it; None: nothing has."""
    failures: int
    """Earlier attempts of this opening that used up a retry."""
    never_done: int
    """Earlier ones of this opening that the provider never did."""
    waits: bool
    """Whether the trial still waits for it."""


@dataclass(frozen=True, slots=True)
class BulkProgress:
    """How far all is together that a run's targets, or its judges, have at providers in bulk."""

    consignments: int
    forming: int
    """How many of these are still being sent."""
    requests: int
    done: int
    """As the providers count."""
    ends_by: float | None
    """When the last of it is given up that has not ended (Unix seconds); None: nobody says."""
    asked: WhoIsAsked = "target"

    @property
    def words(self) -> str:
        """How far it is, in a few words."""
        return self._with_deadline("at the latest")

    @property
    def shorter(self) -> str:
        """The same in fewer cells."""
        return self._with_deadline("by")

    @property
    def brief(self) -> str:
        """The same where there is little room: what is done of it."""
        whose = "judge " if self.asked == "judge" else ""
        if not self.requests:  # they are counted once all are written down
            return f"{whose}bulk, being put together"
        return f"{whose}bulk {self.done:,} of {self.requests:,}"

    def _with_deadline(self, until: str) -> str:
        several = f", {self.consignments} consignments" if self.consignments > 1 else ""
        if self.ends_by is None:
            return f"{self.brief}{several}"
        when, today = time.localtime(self.ends_by), time.localtime()
        day = "" if (when.tm_year, when.tm_yday) == (today.tm_year, today.tm_yday) else "%m-%d "
        return f"{self.brief}{several}, {until} {time.strftime(f'{day}%H:%M', when)}"


def bulk_progress(db: sqlite3.Connection, run: int) -> tuple[BulkProgress, ...]:
    """Return how far a run's open consignments are: of targets, of judges, as far as any are."""
    rows = db.execute(
        "SELECT count(*), sum(state = 'forming'), ifnull(sum(requests), 0), "
        "ifnull(sum(done), 0), max(iif(state = 'sent', ends_by, NULL)), asked FROM consignments "
        "WHERE run = ? AND taken_at IS NULL GROUP BY asked ORDER BY asked DESC",
        (run,),
    )
    return tuple(BulkProgress(*row) for row in rows)


def progress_words(found: Sequence[BulkProgress]) -> str | None:
    """Say how far what is asked in bulk is; None: nothing is."""
    return next(iter(progress_forms(found)), None)


def progress_forms(found: Sequence[BulkProgress]) -> Sequence[str]:
    """Say how far what is asked in bulk is, in ever fewer words; empty: nothing is."""
    if not found:
        return ()
    forms = ([one.words for one in found], [one.shorter for one in found])
    return *map("; ".join, forms), "; ".join(one.brief for one in found)


@dataclass(frozen=True, slots=True)
class AwaitedRequests:
    """Requests at one endpoint for which nothing has come yet: it may do them, and bill them."""

    endpoint: str
    """As limiters know it, or a folder (`format.folder_endpoint`)."""
    requests: int

    @property
    def folder(self) -> str | None:
        """The folder they are in, for whoever does what is there; None: a provider has them."""
        return endpoint_folder(self.endpoint)

    @property
    def words(self) -> str:
        """How many they are, and where: `12 requests at api.openai.com in bulk`."""
        requests = many(self.requests, "request")
        if self.folder is not None:
            return f"{requests} in the folder {self.folder}"
        return f"{requests} at {endpoint_host(self.endpoint)} in bulk"


def awaited_words(awaited: Sequence[AwaitedRequests]) -> str:
    """Say where requests may still be done, and whether somebody bills them; for no terminal."""
    billed = any(one.folder is None for one in awaited)
    at = ", ".join(one.words for one in awaited)
    return f"{at} may still be done{', and billed' if billed else ''}"


def awaited_requests(db: sqlite3.Connection, runs: Collection[int]) -> tuple[AwaitedRequests, ...]:
    """Return how many requests runs have at providers in bulk, by endpoint.

    Of targets and of judges; also those of trials that wait for them no more (cancelled, asked
    live since), and those of which nobody knows yet whether they were sent. One that is still put
    together was not.
    """
    waiting = (
        "SELECT k.endpoint FROM consignments k JOIN {} c ON c.consignment = k.id "
        "JOIN {} a ON a.id = c.{} WHERE k.run IN (SELECT value FROM json_each(?1)) "
        f"AND {STILL_THERE}"
    )
    of_targets = waiting.format("consigned", "attempts", "attempt")
    of_judges = waiting.format("consigned_calls", "judge_calls", "call")
    rows = db.execute(
        f"SELECT endpoint, count(*) FROM ({of_targets} UNION ALL {of_judges}) "
        "GROUP BY endpoint ORDER BY endpoint",
        (json.dumps(list(runs)),),
    )
    return tuple(AwaitedRequests(*row) for row in rows)


def left_behind(db: sqlite3.Connection, trials: Sequence[int]) -> tuple[AwaitedRequests, ...]:
    """Return how many requests cancelled trials have left where they may be done, by endpoint.

    Args:
        db: The connection.
        trials: Ids; those that are not cancelled are left out.
    """
    rows = db.execute(
        f"SELECT left_at, count(*) FROM (SELECT {LEFT_AT} AS left_at FROM json_each(?) j "
        "CROSS JOIN trials t ON t.id = j.value) WHERE left_at NOTNULL "
        "GROUP BY left_at ORDER BY left_at",
        (json.dumps(list(trials)),),
    )
    return tuple(AwaitedRequests(*row) for row in rows)


def consignments(db: sqlite3.Connection, run: int) -> list[ConsignmentRow]:
    """Return the consignments of a run, by target and judge, as they were formed."""
    rows = db.execute(f"{_ROW}WHERE k.run = ? ORDER BY k.asked DESC, k.target, k.number", (run,))
    return [_row(row) for row in rows]


def consignment(db: sqlite3.Connection, consignment_id: int) -> ConsignmentRow:
    """Return one consignment by its id.

    Raises:
        LookupError: there is none.
    """
    row = db.execute(f"{_ROW}WHERE k.id = ?", (consignment_id,)).fetchone()
    if row is None:
        raise LookupError(f"there is no consignment {consignment_id}")
    return _row(row)


def open_consignments(
    db: sqlite3.Connection, run: int, target: str | None = None, asked: WhoIsAsked | None = None
) -> list[ConsignmentRow]:
    """Return those of which something may be left to take, of one target or judge, or of all."""
    rows = db.execute(
        f"{_ROW}WHERE k.run = ?1 AND (?2 IS NULL OR k.target = ?2) "
        "AND (?3 IS NULL OR k.asked = ?3) AND k.taken_at IS NULL "
        "ORDER BY k.asked DESC, k.target, k.number",
        (run, target, asked),
    )
    return [_row(row) for row in rows]


def provider_ids(db: sqlite3.Connection, endpoint: str) -> frozenset[str]:
    """Return the provider's ids of all consignments that are known where an endpoint is.

    Judges and targets have endpoints of their own, and one provider.
    """
    rows = db.execute("SELECT endpoint, provider_id FROM consignments WHERE provider_id NOTNULL")
    host = endpoint_host(endpoint)
    return frozenset(str(unpack(row[1])) for row in rows if endpoint_host(row[0]) == host)


def consignment_of_attempt(db: sqlite3.Connection, attempt: int) -> ConsignmentRow | None:
    """Return the consignment that an attempt went out with; None: it was a call of its own."""
    row = db.execute(
        f"{_ROW}JOIN consigned c ON c.consignment = k.id WHERE c.attempt = ?", (attempt,)
    ).fetchone()
    return None if row is None else _row(row)


def consigned(
    db: sqlite3.Connection, consignment: int, ordinals: Sequence[int]
) -> dict[int, ConsignedTrial]:
    """Return requests of a consignment by their ordinals; those that it does not have are left out.

    Args:
        db: The connection.
        consignment: The consignment.
        ordinals: Which of its requests.
    """
    return _consigned(
        db,
        NAMED,
        (consignment, json.dumps(list(ordinals))),
    )


def nothing_came_for(
    db: sqlite3.Connection, consignment: int, after: int, limit: int
) -> dict[int, ConsignedTrial]:
    """Return requests of a consignment for which no line came, in their order.

    Args:
        db: The connection.
        consignment: The consignment.
        after: An ordinal; -1: from the first on.
        limit: How many at most.
    """
    return _consigned(
        db,
        UNTOLD,
        (consignment, after, limit),
    )


def is_waited_for(db: sqlite3.Connection, consignment: int) -> bool:
    """Return whether a trial waits for a request of a consignment for which no line came."""
    of_target = (
        "SELECT 1 FROM consigned c JOIN attempts a ON a.id = c.attempt JOIN trials t "
        "ON t.id = a.trial WHERE c.consignment = ?1 AND c.line IS NULL AND a.state = 'sent' "
        "AND t.state = 'running' AND t.opening = c.opening"
    )
    of_judge = (
        "SELECT 1 FROM consigned_calls c JOIN judge_calls a ON a.id = c.call "
        "WHERE c.consignment = ?1 AND c.line IS NULL AND a.state = 'sent' "
        f"AND EXISTS ({GRADE_AWAITED})"
    )
    row = db.execute(f"{of_target} UNION ALL {of_judge} LIMIT 1", (consignment,)).fetchone()
    return row is not None


def came(db: sqlite3.Connection, consignment: int) -> int:
    """Return for how many requests of a consignment a line came, whoever read it."""
    told = "SELECT count(*) FROM {} WHERE consignment = ?1 AND line IS NOT NULL"
    row = db.execute(
        f"SELECT ({told.format('consigned')}) + ({told.format('consigned_calls')})", (consignment,)
    ).fetchone()
    return int(row[0])


def _consigned(
    db: sqlite3.Connection, where: str, values: tuple[object, ...]
) -> dict[int, ConsignedTrial]:
    never = ", ".join(f"'{kind}'" for kind in NEVER_DONE)
    earlier = (
        "(SELECT count(*) FROM attempts b JOIN consigned d ON d.attempt = b.id "
        "WHERE b.trial = t.id AND d.opening = c.opening AND b.id < a.id AND {})"
    )
    failed = f"b.state = 'failed' AND b.error_kind NOT IN ({never})"
    never_done = f"(b.state = 'lost' OR b.state = 'failed' AND b.error_kind IN ({never}))"
    rows = db.execute(
        f"SELECT {OPEN_TRIAL}, c.ordinal, a.id, c.opening, c.line, "
        f"{earlier.format(failed)}, {earlier.format(never_done)}, t.opening = c.opening "
        "AND t.state = 'running' FROM consigned c JOIN attempts a ON a.id = c.attempt "
        "JOIN trials t ON t.id = a.trial JOIN cases s ON s.run = t.run AND s.seq = t.seq "
        f"WHERE {where}",
        values,
    ).fetchall()
    return {
        row[-7]: ConsignedTrial(
            ordinal=row[-7],
            attempt=row[-6],
            work=open_trial(db, row[:-7], opening=row[-5]),
            line=row[-4],
            failures=row[-3],
            never_done=row[-2],
            waits=bool(row[-1]),
        )
        for row in rows
    }


def _row(row: Sequence[object]) -> ConsignmentRow:
    values = list(row)
    values[5] = unpack(row[5])  # type: ignore[arg-type]  # a text, or NULL
    values[10] = unpack(row[10])  # type: ignore[arg-type]  # likewise
    return ConsignmentRow(*values)  # type: ignore[arg-type]  # the columns of the statement
