"""Endpoints: connections, presets, keys, patience, prices and the embedded local server."""
