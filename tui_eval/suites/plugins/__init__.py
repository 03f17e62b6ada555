"""Plugins in suites.

`plugin_tables` puts what a suite says of a plugin into one form, and has its settings checked by
`description`, in a process of its own; `plugin_calls` is what such a process, and the workers of an
engine, import.
"""
