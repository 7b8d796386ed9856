"""Embedded mode: PostgreSQL, Valkey and Qdrant Edge as private children of one gateway."""
