"""A run with a screen: screens own state, widgets show it, the app holds modes, themes and keys."""
