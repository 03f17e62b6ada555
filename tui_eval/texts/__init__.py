"""Texts as models and people write them, read: numbers, options, JSON; and quoted."""
