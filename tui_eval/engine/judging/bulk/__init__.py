"""Judges that are asked in bulk: their calls in consignments, as trials are in `engine/bulk`.

    bulk_judge         the questions of one judge: into batches, calls and consignments
    call_home          a consignment's calls sent again, and lines of results read
    bulk_history       what the store knows of a question that was asked in bulk
    bulk_judge_pools   the pools of all judges that are asked so, as judges change

    trial in `scoring` ─ take ─→ questions ─ batches ─→ calls, consigned ─ …
         ↑                                                    │ the trial is let go of
         └──────── nothing of the consignment is left ←───────┘

A call is written down with its questions, and its trials are let go of: they wait in the store,
and no pool takes them while a consignment that holds a question of theirs is open. A line is read
into the questions that wait for it. Once nothing of the consignment is left to take, its trials
are taken anew like any that wait to be scored, and find their answers (`bulk_history`): a finding,
its score and the settled trial are one transaction, as with single calls. What was not answered,
or not wholly, goes again, alone, in a further consignment.

A question that an open consignment asks already (its trial's own before it was opened anew, or an
equal one's) waits for that item. An answer that nobody waits for once a consignment is closed is
kept as a finding that satisfies no trial, and is found by its key.
"""
