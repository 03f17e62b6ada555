"""Tests of Python code that nobody trusts: the tests' process holds no code of the solution.

`tester` is run by its path, by the interpreter that is to run the tests; everything here needs the
standard library alone and runs on every CPython from 3.8 on. For each reply it forks a process for
the tests, which forks one for the solution before it has been told anything; the former is closed
to inspection. Then the former gets the tests and a nonce, runs the tests, and says the nonce at
their very end. Where nothing is left of them, the tester goes on to the next reply. In the tests,
functions of the solution are stand-ins that ask its process: arguments and results cross as plain
data (`crossing`), everything else as a reference (`solution_objects`). So nothing that the
solution does to its own process, ending it included, makes tests pass.
"""
