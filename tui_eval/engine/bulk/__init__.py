"""Asking in bulk: many requests sent to a provider as one consignment, answered within a day.

    bulk_pool      what one target, or one judge, is asked: into consignments, and home again
    home           what a pool needs to know of what its requests are about
    sending        sent once: looked for at the provider before it is sent again
    following      a consignment from its sending until nothing of it is left to take
    request_file   the requests of a consignment, in a file while they are sent
    request_size   how large requests are, and may be
    result_lines   what lines of results are, whatever their requests are about
    polling        how often a provider is asked how far it is

Of trials (of a judge's calls: `judging/bulk`):

    trial_home     a target's trials: what is consigned, and what becomes of it
    forming        queued trials → attempts written down, and their requests in a file
    arrivals       lines of results → what `Journey.brought` makes of each, in one transaction

    queued trials ─ forming ─→ attempts `sent`, consignment `forming` ─ sending ─→ `sent`
         ↑                                                                │ polling
         └─ never done: asked again in a further one ←─ arrivals ←────────┘ `ended` …

Attempts and a random token are in the store before anything leaves, and the token goes along. An
engine that finds a consignment `forming` looks for its token at the provider first. While one is
under way its trials are `running` in the store and in nobody's memory: whichever engine takes its
results reads those trials whose lines came, a few at a time.

What comes back goes the way of any other reply: `Journey.brought`. An output whose scoring takes
long, programs or judges is left in `scoring`, where the endpoint's `TrialPool` finds it.
"""
