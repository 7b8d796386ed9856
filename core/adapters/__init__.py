"""Where ports meet drivers: the only modules of the engine that import one.

Rules this package keeps:
- A driver is imported by the module that needs it, so that what is not used is never loaded.
- What goes wrong in a driver leaves here as an error of `core.errors`, its cause attached.
"""
