"""Fakes of the ports, shipped for tests and held to the same contract as the real adapters."""
