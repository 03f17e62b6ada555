"""Checks that programs decide: each is run once its trial's output is in the store.

A kind of scorer is a module here, with a class that derives from `grader.Grader`, and a line in
`graders.GRADERS`. `program_scoring.ProgramScoring` asks them, as many at once as there are
processors, and takes from the store what was decided before: the key of a grade is over the check
(`scoring.check.Check.key`) and what the grader is made of (`Grader.made_of`).
"""
