"""Two sides compared case by case: runs, columns of runs, and baseline files.

A `side.Side` gives for each of its columns what each case came to. `pairing` puts the columns of
two sides together, and their cases; `comparison` makes rows, groups and flips of them, with the
statistics of `tui_eval.statistics.paired`. `comparison_document` is its JSON. `baseline/` has what
a run is compared with, and whether it holds up against that.
"""
