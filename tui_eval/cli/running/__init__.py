"""Runs seen to their end: what is asked of them, said of them, written of them."""
