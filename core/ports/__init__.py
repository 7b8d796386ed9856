"""What the engine needs from outside, as Protocols, and the bundles that hand them to its paths.

Rules this module keeps:
- No method of a view takes a tenant or a user, so none can be given the wrong one: a view is opened
  under a Scope and sees what the Scope allows.
- The index proposes points; it is never believed. The record disposes.
- Keys come as objects that seal, open and blind; key bytes never pass a port.
"""

from core.ports.audit import AuditWriter, LoggedEvent, SignedEvent
from core.ports.directory import (
    AdminView,
    Audience,
    Directory,
    KeyRow,
    MemberKind,
    MemberRole,
    MemberRow,
    Members,
    Membership,
    PolicyRow,
    Resolved,
    SpaceRow,
    TenantRow,
)
from core.ports.index import Index, IndexHit, Point, Reach
from core.ports.keys import Keyring, OwnerKeys, Place, TenantKeys
from core.ports.models import Clock, Embedder, Extractor, Tokenizer
from core.ports.outbox import IndexTask, Outbox
from core.ports.record import (
    Claim,
    Indexable,
    Inserted,
    MemoryView,
    Proposal,
    RecordStore,
    Repeated,
    Reply,
    SealedPseudonym,
    SealedVectors,
)
from core.ports.stages import QueryCache, RecallStages, Spans, Wake, WriteStages
from core.ports.vectors import Vector, Vectors

__all__ = [
    "AdminView",
    "Audience",
    "AuditWriter",
    "Claim",
    "Clock",
    "Directory",
    "Embedder",
    "Extractor",
    "Index",
    "IndexHit",
    "IndexTask",
    "Indexable",
    "Inserted",
    "KeyRow",
    "Keyring",
    "LoggedEvent",
    "MemberKind",
    "MemberRole",
    "MemberRow",
    "Members",
    "Membership",
    "MemoryView",
    "Outbox",
    "OwnerKeys",
    "Place",
    "Point",
    "PolicyRow",
    "Proposal",
    "QueryCache",
    "Reach",
    "RecallStages",
    "RecordStore",
    "Repeated",
    "Reply",
    "Resolved",
    "SealedPseudonym",
    "SealedVectors",
    "SignedEvent",
    "SpaceRow",
    "Spans",
    "TenantKeys",
    "TenantRow",
    "Tokenizer",
    "Vector",
    "Vectors",
    "Wake",
    "WriteStages",
]
