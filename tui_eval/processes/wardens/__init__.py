"""What runs beside an engine: the zygote, and a warden for each program; see `processes`."""
