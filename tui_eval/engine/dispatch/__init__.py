"""Trials on their way: the queue, the pools, and the workers that take trials along."""
