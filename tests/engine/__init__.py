"""Tests of the engine against a real server, a real store and real processes."""
