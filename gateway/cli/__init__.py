"""The `memwarden` command. It starts things and talks to them; it decides nothing."""
