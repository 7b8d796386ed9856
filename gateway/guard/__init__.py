"""The guard: what stands between a request and everything that keeps, indexes or embeds text.

The order is normalise, secrets, personal data; `gateway.guard.guard.Guard` runs it over every
string of a request. Nothing here does I/O, and nothing here logs.
"""
