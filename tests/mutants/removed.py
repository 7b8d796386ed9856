"""The walls between two owners, each as the texts that take it away and the tests that should mind.

Rules this module keeps:
- The policies of row-level security are read from the schema, so that a new table's are in by
  themselves; each is replaced by one that lets everything through.
- Everything else is an exact piece of code; who moves it names it here again.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SCHEMA = Path(__file__).resolve().parents[2] / "core/adapters/postgres/schema.sql"

_POLICY = re.compile(
    r"^CREATE POLICY (?P<policy>\w+) ON public\.(?P<table>\w+) FOR (?P<verb>\w+)"
    r" TO (?P<role>\w+) (?P<sentence>.+?);$",
    re.MULTILINE | re.DOTALL,
)
_OPEN = re.compile(r"(?:USING \(true\))?\s*(?:WITH CHECK \(true\))?")


@dataclass(frozen=True)
class Edit:
    """One replacement in one file."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Wall:
    """One wall: how it is taken away, and the fewest tests that should notice."""

    name: str
    edits: tuple[Edit, ...]
    tests: tuple[str, ...]


def replaced(name: str, path: str, old: str, new: str, *tests: str) -> Wall:
    """A wall that one replacement takes away."""
    return Wall(name, (Edit(path, old, new),), tests)


# --- row-level security ---------------------------------------------------------------------------

IN_SQL = "tests/core/adapters/postgres/test_rights_in_sql.py"
ROLES_IN_SQL = "tests/core/adapters/postgres/test_walls.py"
NARROW_IN_SQL = "tests/core/adapters/postgres/test_narrow_roles.py"
SENTENCE = "tests/core/adapters/postgres/test_visibility.py"


BEHIND_A_GRANT = frozenset(
    {"memory_links-app_update", "memory_tokens-app_update", "memory_versions-app_update"}
)
"""Policies for what the role has no right to do at all: a test can see the rights alone."""


@dataclass(frozen=True)
class Policy:
    """One policy of row-level security, and the statement that lets everything through.

    Args:
        tests: the files that should notice.
    """

    name: str
    weakened: str
    tests: tuple[str, ...]


def policies() -> list[Policy]:
    """Return every policy that says anything, as the schema has it."""
    found = []
    for policy in _POLICY.finditer(SCHEMA.read_text(encoding="utf-8")):
        if _OPEN.fullmatch(policy["sentence"]):
            continue
        clauses = {
            "INSERT": "WITH CHECK (true)",
            "UPDATE": "USING (true) WITH CHECK (true)",
        }.get(policy["verb"], "USING (true)")
        name, table = policy["policy"], policy["table"]
        if f"{table}-{name}" in BEHIND_A_GRANT:
            continue
        app = policy["role"] == "memwarden_app" and table != "tenants"
        tests = (IN_SQL,) if app else (NARROW_IN_SQL, ROLES_IN_SQL)
        weakened = f"ALTER POLICY {name} ON {table} {clauses}"
        found.append(Policy(f"{table}-{name}", weakened, tests))
    return found


TENANTS = "core/adapters/postgres/migrations/0001_tenants.sql"


def _set_to(setting: str) -> str:
    return f"(SELECT nullif(current_setting('app.{setting}', true), '')::uuid)"


def _among(setting: str) -> str:
    return f"ANY ((SELECT nullif(current_setting('app.{setting}', true), '')::uuid[])::uuid[])"


def whole_sentences() -> Iterator[Wall]:
    """Yield the parts of the one sentence that every table of memories is under."""
    person = f"        AND user_id = {_set_to('user_id')})"
    parts = (
        ("tenant", f"$$tenant = {_set_to('tenant')}$$", "$$tenant IS NOT NULL$$", IN_SQL),
        ("person", f"     AND user_id = {_set_to('user_id')}\n", "", SENTENCE),
        ("namespace", f"     AND namespace = {_among('namespaces')})", "     )", SENTENCE),
        ("person in a same_user space", person, "        )", SENTENCE),
        (
            "same_user spaces",
            f"(space = {_among('reach_same')}\n",
            "(space IS NOT NULL\n",
            SENTENCE,
        ),
        (
            "members spaces",
            f"OR space = {_among('reach_members')}",
            "OR space IS NOT NULL",
            SENTENCE,
        ),
    )
    for name, old, new, test in parts:
        yield replaced(f"row-level security: the sentence's {name}", TENANTS, old, new, test)


# --- the queries' own conditions ------------------------------------------------------------------

MEMORIES = "core/adapters/postgres/sql/memories.sql"
SEARCH = "core/adapters/postgres/sql/search.sql"
WALLS = "tests/attacks/test_walls.py"
SPACES = "tests/attacks/test_walls_of_spaces.py"


def queries() -> Iterator[Wall]:
    """Yield the conditions that the queries name besides row-level security."""
    reach = (
        "AND (m.space IS NULL AND m.user_id = %(user)s"
        " AND m.namespace = ANY (%(namespaces)s::uuid[])\n"
    )
    same = "     OR m.space = ANY (%(read_same)s::uuid[]) AND m.user_id = %(user)s\n"
    for name, old, new, test in (
        ("person", reach, reach.replace(" AND m.user_id = %(user)s", ""), WALLS),
        (
            "namespace",
            reach,
            reach.replace(" AND m.namespace = ANY (%(namespaces)s::uuid[])", ""),
            WALLS,
        ),
        (
            "person in a same_user space",
            same,
            same.replace(" AND m.user_id = %(user)s", ""),
            SPACES,
        ),
        ("same_user spaces", same, "     OR m.user_id = %(user)s\n", SPACES),
        (
            "members spaces",
            f"{same}     OR m.space = ANY (%(read_members)s::uuid[]))",
            f"{same}     OR m.space IS NOT NULL)",
            SPACES,
        ),
    ):
        yield replaced(f"queries: {name}, by id", MEMORIES, old, new, test)
    find = " WHERE {{reach}} AND m.id = ANY (%(ids)s::uuid[]) AND {{matching}}"
    yield replaced(
        "confirmation: under the scope", SEARCH, find,
        " WHERE m.id = ANY (%(ids)s::uuid[]) AND {{matching}}", WALLS,
    )  # fmt: skip
    yield replaced(
        "confirmation: what the query asked", SEARCH, find,
        " WHERE {{reach}} AND m.id = ANY (%(ids)s::uuid[])",
        "tests/contracts/test_record_search.py",
    )  # fmt: skip


# --- decisions, and how they end ------------------------------------------------------------------

RULES = "gateway/access/rules.py"
ACCESS = "tests/gateway/access/"


def decisions() -> Iterator[Wall]:
    """Yield what decides, and what takes a decision back."""
    yield replaced(
        "decision: Casbin's answer", RULES, '        if yes is True and line.effect == "allow":',
        '        if line.effect == "allow":', "tests/attacks/test_casbin_decides.py",
    )  # fmt: skip
    yield replaced(
        "decision: Casbin's reason", RULES, "        if reason != list(line[:5]):",
        "        if False:", "tests/policies/test_access.py",
    )  # fmt: skip
    yield replaced(
        "decision: what no rule names is denied", RULES,
        'DEFAULT_DENY: Final = Ruling(allowed=False, rule="default-deny")',
        'DEFAULT_DENY: Final = Ruling(allowed=True, rule="default-deny")',
        "tests/policies/test_access.py",
    )  # fmt: skip
    yield replaced(
        "decision: asked at all", "gateway/access/enforcer.py",
        "        if not ruling.allowed:", "        if False:",
        f"{ACCESS}test_enforcer.py",
    )  # fmt: skip
    yield replaced(
        "revocation: asked again before anything commits", "core/adapters/postgres/record.py",
        "            if scope.epoch is not None:", "            if False:",
        "tests/contracts/test_record.py", "tests/fronts/test_spaces.py",
        "tests/core/adapters/postgres/test_directory.py",
    )  # fmt: skip
    yield replaced(
        "revocation: rights are read with the credential's epoch", "gateway/access/reach.py",
        "    if found.standing.epoch != ", "    if False and found.standing.epoch != ",
        f"{ACCESS}test_spaces.py",
    )  # fmt: skip


# --- what tells that a memory is there ------------------------------------------------------------

READERS = "tests/fronts/test_spaces.py"


def presence() -> Iterator[Wall]:
    """Yield what keeps it from whoever may not read a memory that it is there."""
    path = "gateway/memories.py"
    yield replaced(
        "presence: denied to read is not found", path,
        "    except Denied:\n        raise NotFound from None",
        "    except Denied:\n        return", READERS,
    )  # fmt: skip
    yield replaced(
        "presence: looked for as a reader", path,
        "        await view.get(memory)\n\n\nasync def namespace_names",
        "        pass\n\n\nasync def namespace_names", READERS,
    )  # fmt: skip


# --- values behind pseudonyms ---------------------------------------------------------------------

TYPED = "gateway/pseudonyms.py"
REVEALS = "tests/fronts/test_pseudonyms.py"
WORDS = "tests/core/test_pseudonyms.py"


def pseudonyms() -> Iterator[Wall]:
    """Yield what keeps a value to the person it is of."""
    yield replaced(
        "reveal: about the person that is named", "gateway/reveal.py",
        "        if row.user != scope.user:", "        if False:", REVEALS,
    )  # fmt: skip
    # Each alone is one of several: whose the row is, and under whose key it opens.
    own = (
        Edit(TYPED, "        if owner_of(scope, row) == owner:", "        if True:"),
        Edit(
            TYPED,
            "                found |= pseudonyms.opened([row], keys)",
            "                of = await gate.keyring.owner(owner_of(scope, row))\n"
            "                found |= pseudonyms.opened([row], of or keys)",
        ),
    )
    yield Wall(
        "pseudonyms: what is typed resolves as its owner's own",
        own,
        (f"{REVEALS}::test_a_word_stands_for_nothing_across_the_edge_of_a_shared_space",),
    )
    person = " if row.user == scope.user else frozenset[str]()"
    yield Wall(
        "pseudonyms: nor as that of who changes another's memory",
        (
            *own,
            Edit(TYPED, f"words - guarded.marks.keys(){person}", "words - guarded.marks.keys()"),
        ),
        (f"{REVEALS}::test_a_word_of_who_changes_a_memory_stands_for_nothing_in_anothers",),
    )
    yield replaced(
        "pseudonyms: a word that came with a text is looked up", "core/pseudonyms.py",
        "            elif entry is not None and entry.kind == kind:",
        "            elif entry is not None:", REVEALS,
    )  # fmt: skip
    for name, old, new in (
        ("the person", 'f"{person}\\n{mark.kind}', 'f"{mark.kind}'),
        ("the kind", "\\n{mark.kind}\\n", "\\n"),
        ("its word", 'field=f"pseudonym.{each}"', 'field="pseudonym"'),
        ("its version", "record=memory, version=version,", "record=memory, version=1,"),
    ):
        yield replaced(f"pseudonyms: {name}", "core/pseudonyms.py", old, new, WORDS)


# --- a tenant's own guard -------------------------------------------------------------------------

GUARDS = "gateway/guard/in_force.py"
GUARD_IN_FORCE = "tests/gateway/guard/test_in_force.py"


def guards() -> Iterator[Wall]:
    """Yield what keeps each tenant's guard to its kind and its version."""
    place = 'f"{kind}:{version}"'
    for name, old, new in (
        ("its kind", place, 'f"{version}"'),
        ("its version", place, 'f"{kind}"'),
        ("what it says", "row.version != version_of(document)", "False"),
        (
            "the version in force",
            "                if row.version != version:",
            "                if False:",
        ),
    ):
        yield replaced(f"guard in force: {name}", GUARDS, old, new, GUARD_IN_FORCE)


# --- what is sensitive ----------------------------------------------------------------------------

INDEXER = "core/indexer.py"
SENSITIVE = "tests/core/test_sensitive.py"


def sensitive() -> Iterator[Wall]:
    """Yield what keeps the sensitive out of the index, and each vector in its place."""
    yield replaced(
        "sensitive: no point in the index", INDEXER,
        "return None if sensitive else (item, keys)", "return item, keys", SENSITIVE,
    )  # fmt: skip
    chunk = 'f"vector.{chunk}"'
    yield Wall(
        "sealed vector: its chunk",
        tuple(
            Edit(path, f"{before}{chunk}", f'{before}"vector"')
            for path, before in (
                ("core/keeping.py", "place("),
                (INDEXER, "field="),
                ("core/nearest.py", "field="),
            )
        ),
        ("tests/core/test_nearest.py",),
    )


# --- the index ------------------------------------------------------------------------------------

FILTERS = "core/adapters/qdrant/filters.py"
INDEX = "tests/contracts/test_index.py"


def index_filter() -> Iterator[Wall]:
    """Yield the conditions of every call to the index."""
    both = '"must": [_is("tenant", self.tenant), _is("owner", self.owner), *self.rest]'
    user = '        conditions.append(_is("user", _named(reach.user)))\n'
    space = (
        '    conditions.append(_is("space", _ABSENT if reach.space is None'
        " else _named(reach.space)))\n"
    )
    places = '        conditions.append(_any("namespace", reach.namespaces))\n'
    expiry = (
        '    conditions.append({"should": [_range("expires", lte=0),'
        ' _range("expires", gt=reach.now)]})\n'
    )
    yield replaced(
        "index: the tenant", FILTERS, both,
        '"must": [_is("owner", self.owner), *self.rest]',
        "tests/core/adapters/qdrant/test_filters.py",
        "tests/core/adapters/qdrant/test_every_call_is_owned.py",
    )  # fmt: skip
    yield replaced(
        "index: the owner", FILTERS, both,
        '"must": [_is("tenant", self.tenant), *self.rest]', INDEX,
    )  # fmt: skip
    for name, old, new in (
        ("the person", user, "        pass\n"),
        ("the space", space, ""),
        ("the namespaces", places, "        pass\n"),
        ("the expiry", expiry, ""),
    ):
        yield replaced(f"index: {name}", FILTERS, old, new, INDEX)
    yield replaced(
        "index: whoever writes a point writes it as its own tenant's", FILTERS,
        'if not kept["owner"] or not tenant or kept["tenant"] != tenant:',
        'if not kept["owner"] or not tenant:', INDEX,
    )  # fmt: skip


# --- keys of caches, budgets and replies ----------------------------------------------------------

KEYS = "core/adapters/redis/keys.py"
KEYS_TESTS = "tests/core/adapters/redis/test_keys.py"
CACHE = "core/adapters/redis/cache.py"
CACHE_TESTS = "tests/core/adapters/redis/test_cache.py"


def keys() -> Iterator[Wall]:
    """Yield the parts of the keys of caches and budgets."""
    parts = "for part in (purpose, tenant, *parts)"
    for name, left in (("tenant", "(purpose, *parts)"), ("purpose", "(tenant, *parts)")):
        yield replaced(f"key: its {name}", KEYS, parts, f"for part in {left}", KEYS_TESTS)
    yield replaced(
        "key: the length before each part", KEYS,
        'return b"%s%d:%s," % (kind, len(data), data)', 'return b"%s:%s," % (kind, data)',
        KEYS_TESTS,
    )  # fmt: skip
    yield replaced(
        "key: the type of each part", KEYS,
        'return b"%s%d:%s," % (kind, len(data), data)', 'return b"%d:%s," % (len(data), data)',
        KEYS_TESTS,
    )  # fmt: skip


VERSIONS = "gateway/version_cache.py"
QUERY_KEY = '    return key("query", keys.owner.tenant, keys.owner.id, digest)'


def caches() -> Iterator[Wall]:
    """Yield the parts of what is kept between requests, and under which names."""
    yield replaced(
        "cache of queries: the person", CACHE, QUERY_KEY,
        '    return key("query", keys.owner.tenant, b"", digest)', CACHE_TESTS,
        "tests/attacks/test_cache_keys.py",
    )  # fmt: skip
    yield replaced(
        "cache of queries: the query", CACHE, QUERY_KEY,
        '    return key("query", keys.owner.tenant, keys.owner.id, b"")', CACHE_TESTS,
    )  # fmt: skip
    yield replaced(
        "cache of queries: the embedder's length", CACHE,
        'f"{len(embedder)}:{embedder}{text}"', 'f"{embedder}{text}"', CACHE_TESTS,
    )  # fmt: skip
    yield replaced(
        "budget: whose it is", "core/adapters/redis/budget.py",
        'key("budget", charge.tenant, charge.of, charge.subject, charge.kind)',
        'key("budget", charge.tenant, charge.of, "", charge.kind)',
        "tests/attacks/test_cache_keys.py",
    )  # fmt: skip
    yield replaced(
        "idempotency: the principal", "gateway/idempotency.py",
        'f"key\\x00{principal.key_id}\\x00{once.key}"', 'f"key\\x00{once.key}"',
        "tests/attacks/test_cache_keys.py",
    )  # fmt: skip
    for whose, tests in (
        ("access", ("tests/attacks/test_cache_keys.py", f"{ACCESS}test_in_force.py")),
        ("guard", (GUARD_IN_FORCE,)),
    ):
        yield replaced(
            f"cache of policies, {whose}: the version", VERSIONS,
            "        if kept is not None and kept.version == version:",
            "        if kept is not None:", *tests,
        )  # fmt: skip
        yield replaced(
            f"cache of policies, {whose}: the tenant", VERSIONS,
            "        kept = self._kept.get(tenant)",
            "        same = (one for one, of in self._kept.items() if of.version == version)\n"
            "        tenant = next(same, tenant)\n"
            "        kept = self._kept.get(tenant)", *tests,
        )  # fmt: skip
    yield replaced(
        "cache of quotas: the version", "gateway/quotas.py",
        "        known = self._opened.get((tenant, version))",
        "        known = next((one for at, one in self._opened.items() if at[0] == tenant), None)\n"
        "        version = version if known is None else next(\n"
        "            at[1] for at in self._opened if at[0] == tenant)",
        "tests/attacks/test_cache_keys.py",
    )  # fmt: skip


def all_walls() -> list[Wall]:
    """Return every wall but the policies, which a plugin takes away (tests/mutants/weakened.py)."""
    return [
        *decisions(),
        *whole_sentences(),
        *queries(),
        *presence(),
        *pseudonyms(),
        *guards(),
        *sensitive(),
        *index_filter(),
        *keys(),
        *caches(),
    ]
