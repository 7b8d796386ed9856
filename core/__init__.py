"""The memory engine: what is kept, how it is found again, and when it goes.

Rules this package keeps:
- Nothing here imports the gateway; drivers are imported under `core.adapters` alone.
- A store opens for a `Scope`, and a write takes a `Guarded` draft; nothing else will do.
"""
