"""How far scorers agree with people who graded the same outputs, and people with each other.

`graded_outputs` reads what both said, `measures` says how far they agree, `corrected_rates` what
people would have said of all; `run_agreement` puts it together for a run.
"""
