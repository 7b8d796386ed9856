"""The vector index on Qdrant: one builder of filters, two transports.

- `filters` turns a `Reach` into the conditions of a call; nothing else builds any.
- `edge` talks to `edge_child`, the process that alone opens the embedded shards.
- `server` talks to a Qdrant server.
"""
