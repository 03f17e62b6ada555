"""What is written of consignments: formed, sent, looked at, taken.

Each function is one fact inside a transaction, like those of `trial_moves`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tui_eval.model.states import TrialState
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx

WhoIsAsked: TypeAlias = Literal["target", "judge"]
"""Whose requests a consignment holds."""


@dataclass(frozen=True, slots=True)
class AbandonedConsignment:
    """A consignment whose results nobody takes any more."""

    id: int
    token: str
    judge: str
    lost: int
    """Calls that may be done, and billed."""


UNDER_WAY: Final = (
    "SELECT 1 FROM attempts a JOIN consigned c ON c.attempt = a.id "
    "WHERE a.trial = trials.id AND a.state = 'sent' AND c.opening = trials.opening"
)
"""A row (SQL) where the answer of one of `trials` is to come out of a consignment."""


def form(
    tx: Tx, run: int, target: str, endpoint: str, token: str, asked: WhoIsAsked = "target"
) -> int:
    """Begin a consignment; return its id.

    Args:
        tx: The transaction.
        run: The run.
        target: Whose requests it is to hold.
        endpoint: Where it is to be sent, as limiters know it.
        token: What goes along with it; random.
        asked: What `target` is the name of.
    """
    made = tx.db.execute(
        "INSERT INTO consignments (run, target, number, endpoint, token, state, formed_at, asked) "
        "SELECT ?1, ?2, (SELECT ifnull(max(number), 0) + 1 FROM consignments "
        "WHERE run = ?1 AND target = ?2 AND asked = ?6), ?3, ?4, 'forming', ?5, ?6",
        (run, target, endpoint, token, tx.now, asked),
    ).lastrowid
    assert made is not None
    _touch(tx, made)
    return made


def consign(tx: Tx, consignment: int, ordinal: int, attempt: int) -> None:
    """Put an attempt that was just started into a consignment."""
    tx.db.execute(
        "INSERT INTO consigned (consignment, ordinal, attempt, trial, opening) "
        "SELECT ?, ?, a.id, t.id, t.opening FROM attempts a JOIN trials t ON t.id = a.trial "
        "WHERE a.id = ?",
        (consignment, ordinal, attempt),
    )


def complete(
    tx: Tx, consignment: int, requests: int, most_usd: float | None, most_tokens: int | None
) -> None:
    """Write down that nothing is added to a consignment any more, and what it takes at most.

    Args:
        tx: The transaction.
        consignment: The consignment.
        requests: How many are sent: withdrawn ones are not, and it is known by this number.
        most_usd: What it can cost; None: nobody knows.
        most_tokens: What it can take; None: nobody knows.
    """
    tx.db.execute(
        "UPDATE consignments SET most_usd = ?, most_tokens = ?, requests = ? WHERE id = ?",
        (most_usd, most_tokens, requests, consignment),
    )
    _touch(tx, consignment)


def sent(tx: Tx, consignment: int, provider_id: str, ends_by: float | None) -> None:
    """Write down that the provider has a consignment."""
    tx.db.execute(
        "UPDATE consignments SET state = 'sent', provider_id = ?, sent_at = ifnull(sent_at, ?), "
        "ends_by = ? WHERE id = ?",
        (pack(provider_id), tx.now, ends_by, consignment),
    )
    _touch(tx, consignment)


def looked(
    tx: Tx,
    consignment: int,
    state: str,
    done: int | None,
    ends_by: float | None,
    problem: str | None = None,
) -> None:
    """Write down what a provider says of a consignment; what it says no more stays."""
    tx.db.execute(
        "UPDATE consignments SET state = ?, done = ifnull(?, done), ends_by = ifnull(?, ends_by), "
        "problem = ifnull(?, problem) WHERE id = ?",
        (state, done, ends_by, pack(problem), consignment),
    )
    _touch(tx, consignment)


def arrived(tx: Tx, consignment: int, ordinal: int, line: bytes) -> bool:
    """Write down that a line of the results came; False where one came for it before."""
    return (
        tx.db.execute(
            "UPDATE consigned SET line = ? WHERE consignment = ? AND ordinal = ? AND line IS NULL",
            (line, consignment, ordinal),
        ).rowcount
        == 1
    )


def contradicted(tx: Tx, consignment: int, ordinal: int, mark: bytes) -> None:
    """Write down, in the place of a line's digest, that another line says otherwise."""
    tx.db.execute(
        "UPDATE consigned SET line = ? WHERE consignment = ? AND ordinal = ?",
        (mark, consignment, ordinal),
    )


def taken(tx: Tx, consignment: int, unknown: int = 0) -> None:
    """Write down that nothing of a consignment is left to take.

    Args:
        tx: The transaction.
        consignment: The consignment.
        unknown: How many lines of its results named none of its requests.
    """
    tx.db.execute(
        "UPDATE consignments SET taken_at = ?, unknown = ? WHERE id = ?",
        (tx.now, unknown, consignment),
    )
    _touch(tx, consignment)


def cancelled(tx: Tx, consignment: int) -> None:
    """Write down that a provider was asked to end a consignment."""
    tx.db.execute("UPDATE consignments SET cancelled_at = ? WHERE id = ?", (tx.now, consignment))
    _touch(tx, consignment)


def abandon_judges(tx: Tx, run: int, kept: Mapping[str, str]) -> list[AbandonedConsignment]:
    """Give up a run's consignments of judges that are asked in bulk no more; return them.

    Args:
        tx: The transaction.
        run: The run.
        kept: The judges that are, and where each is asked: what is elsewhere is given up, too.
    """
    gone = tx.db.execute(
        "SELECT id, token, target FROM consignments WHERE run = ? AND asked = 'judge' "
        "AND taken_at IS NULL AND NOT EXISTS (SELECT 1 FROM json_each(?) j "
        "WHERE j.key = consignments.target AND j.value = consignments.endpoint)",
        (run, dump(dict(kept))),
    ).fetchall()
    found = []
    for consignment, token, judge in gone:
        calls = tx.db.execute(
            "UPDATE judge_calls SET state = 'lost' WHERE state = 'sent' AND id IN "
            "(SELECT call FROM consigned_calls WHERE consignment = ?)",
            (consignment,),
        ).rowcount
        looked(tx, consignment, "lost", None, None, "the judge is asked in bulk there no more")
        taken(tx, consignment)
        found.append(AbandonedConsignment(consignment, token, judge, calls))
    return found


def await_again(tx: Tx, trial: int) -> None:
    """Let a queued trial whose request is still at a provider take what comes of that."""
    found = tx.db.execute(
        "SELECT c.consignment, c.ordinal FROM attempts a JOIN consigned c ON c.attempt = a.id "
        "WHERE a.trial = ? AND a.state = 'sent' ORDER BY a.id DESC LIMIT 1",
        (trial,),
    ).fetchone()
    if found is not None and tx.move(trial, TrialState.RUNNING, (TrialState.QUEUED,)):
        tx.db.execute(
            "UPDATE consigned SET opening = (SELECT opening FROM trials WHERE id = ?) "
            "WHERE consignment = ? AND ordinal = ?",
            (trial, *found),
        )


def forget(tx: Tx, run: int) -> None:
    """Delete the consignments of a run none of whose trials is there any more."""
    tx.db.execute("DELETE FROM consignments WHERE run = ?", (run,))


def _touch(tx: Tx, consignment: int) -> None:
    """Have whoever follows the run look."""
    tx.db.execute(
        "UPDATE runs SET change = ? WHERE id = (SELECT run FROM consignments WHERE id = ?)",
        (tx.change, consignment),
    )
