"""Servers that the tests talk to over real sockets."""
