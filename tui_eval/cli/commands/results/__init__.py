"""Commands on what the store has: shown, traced, exported, merged, deleted."""
