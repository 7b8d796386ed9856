"""The guarded door to the memory engine: it turns a request into a Scope and a Guarded draft.

Rules this package keeps:
- Fronts parse and shape; `gateway.write` and `gateway.recall` decide the order of the steps.
- What one front allows, every front allows: they share the paths, the policy and the errors table.
"""
