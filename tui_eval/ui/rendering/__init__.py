"""Foreign text laid out as what it plainly is: JSON, Markdown, code."""
