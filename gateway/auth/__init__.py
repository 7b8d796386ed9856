"""Who asks: from a credential to a `Principal`, or `Unauthenticated`."""
