"""KeptFigures that are sums over a run's trials: counted by parts of its cases, and kept.

A part is some consecutive cases with all their trials. What its trials come to is counted once, and
anew only when one of them has changed since, as their change numbers tell; figures of a run are
those of its parts put together. A run of a single part is counted each time.

What was counted is kept with the connection, and of large runs in a file beside the store.
"""
