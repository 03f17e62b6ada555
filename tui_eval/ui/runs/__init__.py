"""What the Runs screen is made of: reading the list, the table, exports, deletions."""
