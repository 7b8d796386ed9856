"""The tamper-evident record: events, their chain, its checkpoints, the proof that it is whole."""
