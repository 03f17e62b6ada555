"""Completion in shells: a script for each shell asks the hidden command `complete` at each press.

`scripts` has the scripts, `candidates` says what could be typed, `named_values` which names there
are.
"""
