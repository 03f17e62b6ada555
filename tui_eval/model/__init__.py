"""The nouns and the table of legal moves: frozen values, no input or output."""
