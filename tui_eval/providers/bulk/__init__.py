"""Providers' batch APIs: many requests sent as one, answered within a day at half the price."""
