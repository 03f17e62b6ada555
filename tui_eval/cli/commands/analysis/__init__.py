"""Commands that say what runs come to, side by side."""
