"""The changes that the schema of the store went through, by what they are about."""
