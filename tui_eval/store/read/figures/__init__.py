"""Sums over attempts and trials: spending, endings, what programs took."""
