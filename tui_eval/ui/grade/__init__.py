"""Grading outputs: what is shown of one, and the grade that is being given."""
