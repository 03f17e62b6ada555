"""Faults to survive: each test has a control that fails with the guard taken away."""
