"""How the app reads the store and writes requests, never on its own loop."""
