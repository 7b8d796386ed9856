"""Server mode: what must hold before it starts, and what processes that share the work watch."""
