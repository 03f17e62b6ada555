"""The settings screen's parts: what there is to set, and how a value is asked for."""
