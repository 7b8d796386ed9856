"""Keys and sealing: who may open what, and what opens once a key is gone.

Rules this package keeps:
- Key bytes leave this package for nobody; what goes out are objects that seal, open and blind.
- Wrapped keys stand in a database of their own, apart from what they seal.
- Whatever is wrong with stored bytes, the answer is one: `Tampered`.
"""
