"""From a TOML file to a frozen suite, its cases and its rendered prompts."""
