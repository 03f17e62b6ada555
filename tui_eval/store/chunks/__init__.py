"""KeptFigures that are sums over a run's trials: counted by chunks of its cases, and kept.

A chunk is some consecutive cases with all their trials. What its trials come to is counted once,
and anew only when one of them has changed since, as their change numbers tell; figures of a run are
those of its chunks put together. A run of a single chunk is counted each time.

What was counted is kept with the connection, and of large runs in a file beside the store.
"""
