"""The screens, one module each, with a style sheet of the same name."""
