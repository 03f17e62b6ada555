"""Uniting stores: what engines wrote into several files becomes the runs of one.

    sources     attaching another store, and which of its runs is which run here
    lacking     which of its trials have something that is not here yet
    numbering   the places of cases in a run of which not all parts are there
    copying     rows with other ids
    facts       outputs, attempts, scores, grades, notes: each once, by what they are
    findings    what judges said of outputs, likewise, and what it was copied from
    workspaces  files that programs left
    taking_run  the run here that takes: made, held, let go
    standing    which of two outputs of a trial counts
    merging     a whole store, run by run, in portions

A fact has no name of its own but what it says: an output its key, content and moment, an attempt
its trial and moment. So it is found again wherever it was merged before: any order of stores, and
any number of times, gives the same runs.
"""
