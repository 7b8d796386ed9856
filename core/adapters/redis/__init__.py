"""Redis or Valkey: what may be lost at any time. Budgets, and a cache of embedded queries.

Nothing acknowledged lives here alone; a fault of the server costs time, never an answer.
"""
