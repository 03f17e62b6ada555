"""Functions of the Python program that started the run: called there.

::

    function_target ──┐                       ┌── the program: `api.function_server`
    function_grader ──┴── caller_connection ──┘   (threads, and one loop, call the functions)
                            socket, JSON lines

The messages are those of the workers of `targets.python_function`, several calls at a time. The
socket is a pair that nobody else can reach. Where it closes, the program has ended: the engine
leaves its run, which can be resumed wherever the functions are; calls in flight are dropped, as if
they had never begun.
"""
