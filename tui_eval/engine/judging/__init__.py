"""Judging while the run goes on: questions, batches, calls, repair."""
