"""Attempts that are made elsewhere, by workers: the journey, limits, retries and money stay here.

::

    Journey ── RemoteTarget ── RemoteAttempts ── Transport ──> AttemptWorker ── Target
              (same face as       (who makes       (bytes;        (the frozen suite's own)
               a Target)         which attempt)   its kind's)

**To the journey** a target whose attempts are made elsewhere is a target:
`executor.journey_targets` puts a `RemoteTarget` before each. It renders requests and tells the
identity here; `generate` makes an `AttemptOrder` of the request and of what the attempt's context
says, and waits for its `AttemptReturn`. What the target tells meanwhile is relayed to the
attempt's context.

**`RemoteAttempts`** knows workers and attempts. Orders go to the worker with the least to do, in
handfuls (`outbox`, `handful`). What comes for an attempt that nobody waits for is counted and not
written. The attempts of a worker that has gone are a `Failure` with `lost`; how that goes on is the
journey's.

**`AttemptWorker`** is the other side: it builds the suite's targets, opens each when it is first
asked, after having seen that it is what the engine means (`identity`), and makes attempts in
folders of its own. What they leave comes back with the return. It knows no store, no limit and no
retry.

**Checks** that a program decides go the same way: `RemoteGrader` stands before each grader, and a
worker decides what travels (`Grader.travels`) where there is one.

**A kind** is a `Transport` and what starts workers: an `Executor`, a line in `kinds.EXECUTORS`.
"""
