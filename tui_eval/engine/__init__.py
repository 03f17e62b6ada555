"""The engine: stage, generate, score, settle; one process for each active run."""
