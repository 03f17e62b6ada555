"""Models behind an endpoint: what targets, judges and simulated users share that ask one."""
