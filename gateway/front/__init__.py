"""The doors: a request becomes a call of a gateway path, and its outcome a reply."""
