"""What a trial that is asked in bulk says while it waits, in SQL: it changes with each look."""

from typing import Final

WORDS: Final = (
    "iif(k.asked = 'judge', 'judge ', '') || printf('bulk %d/%d', k.number, "
    "(SELECT max(x.number) FROM consignments x "
    "WHERE x.run = k.run AND x.target = k.target AND x.asked = k.asked)) || CASE "
    "WHEN k.state = 'forming' AND k.requests = 0 THEN ', being put together' "
    "WHEN k.state = 'forming' THEN ', being sent' "
    "WHEN k.state = 'sent' THEN printf(', %,d of %,d', ifnull(k.done, 0), k.requests) "
    "ELSE ', results are taken' END || CASE WHEN k.state = 'sent' AND k.ends_by IS NOT NULL "
    "THEN strftime(CASE WHEN date(k.ends_by, 'unixepoch', 'localtime') = date('now', 'localtime') "
    "THEN ', by %H:%M' ELSE ', by %m-%d %H:%M' END, k.ends_by, 'unixepoch', 'localtime') "
    "ELSE '' END"
)
"""How far a consignment `k` is: `bulk 2/3, 812 of 1,000, by 14:20`, when the provider gives up what
is not done; on another day than today `by 11-24 14:20`. A judge's is `judge bulk …`."""

WAITING: Final = (
    "CASE WHEN t.waiting IS NULL AND t.state = 'running' THEN "
    f"(SELECT {WORDS} FROM consigned c JOIN attempts a ON a.id = c.attempt AND a.state = 'sent' "
    "JOIN consignments k ON k.id = c.consignment "
    "WHERE c.trial = t.id AND c.opening = t.opening) "
    f"WHEN t.state = 'scoring' THEN ifnull((SELECT {WORDS} FROM consigned_questions q "
    "JOIN consigned_calls c ON c.call = q.call "
    "JOIN consignments k ON k.id = c.consignment AND k.taken_at IS NULL "
    "WHERE q.trial = t.id AND q.opening = t.opening ORDER BY k.id LIMIT 1), t.waiting) "
    "ELSE t.waiting END"
)
"""Why a trial `t` waits: what is written down, or how far its consignment is."""

STILL_THERE: Final = "k.taken_at IS NULL AND k.requests > 0 AND c.line IS NULL AND a.state = 'sent'"
"""Where (SQL) a provider may still do a call `a`, the request `c` of a consignment `k`; one that is
still put together was not sent."""

LEFT_AT: Final = (
    "CASE WHEN t.state = 'cancelled' THEN (SELECT k.endpoint FROM attempts a "
    "JOIN consigned c ON c.attempt = a.id JOIN consignments k ON k.id = c.consignment "
    f"WHERE a.trial = t.id AND {STILL_THERE} LIMIT 1) END"
)
"""Where the request of a cancelled trial `t` is that may still be done; NULL: there is none."""

AWAITED: Final = (
    "SELECT 1 FROM consigned_questions q JOIN consigned_calls w ON w.call = q.call "
    "JOIN consignments k ON k.id = w.consignment "
    "WHERE q.trial = t.id AND q.opening = t.opening AND k.taken_at IS NULL"
)
"""A row (SQL) where a judge is asked in bulk about a trial `t`, and its answer is to come."""
