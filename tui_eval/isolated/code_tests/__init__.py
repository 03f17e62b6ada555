"""Tests of Python code that nobody trusts: the tests' process holds no code of the solution.

`tester` is run by its path, by the interpreter that is to run the tests; everything here needs the
standard library alone and runs on every CPython from 3.8 on. The tester forks a process for the
solution before it has been told anything, and closes itself to inspection. Then it gets the tests
and a nonce, runs the tests, and says the nonce at their very end. In the tests, functions of the
solution are stand-ins that ask its process: arguments and results cross as plain data
(`crossing`), everything else as a reference (`solution_objects`). So nothing that the solution
does to its own process, ending it included, makes tests pass.
"""
