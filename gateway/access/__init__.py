"""Who may do what: policy files become checked rules, and an allow decision becomes a Scope."""
