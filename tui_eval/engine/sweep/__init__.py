"""How hard an endpoint can be driven: a run whose trials come level by level.

A sweep is a run like any other: its trials go through the same pool, journey and store. Only three
things are its own. Its cases are staged without trials (`sweep_staging`); whenever nothing is open,
the trials of the next level are added and the limit is set to it (`sweep_phases`); and the limit
stays there, whatever comes back (`limits.steady_limiter`). Its frozen suite has no scorers, judges
or retries (`sweep_suite`). What it has come to is worked out of its attempts (`statistics.load`).
"""
