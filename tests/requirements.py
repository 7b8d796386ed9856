"""What this release promises: an id, the promise in a sentence, and where the demand comes from.

Rules this module keeps:
- A test that proves a promise carries `@pytest.mark.requirement("<id>")`; a promise without such a
  test, and a marker without a promise, fail tests/architecture/test_requirements_are_proved.py.
- B is tokens and transport, C access and audit, D personal data, E keys, F reliability, M the main
  job. Numbers are stable; a gap is a promise that a later release makes.
"""

from typing import NamedTuple


class Requirement(NamedTuple):
    """One promise.

    Args:
        sentence: what always holds, short enough to be wrong.
        source: the public text that asks for it, or names the weakness it removes.
    """

    sentence: str
    source: str


REQUIREMENTS: dict[str, Requirement] = {
    "A7": Requirement(
        "What the guard catches stays caught in fifteen disguises: composed otherwise, hidden in "
        "tags, look-alike, full-width, reversed in case, encoded once or twice.",
        "Unicode UTS #39; CWE-176: improper handling of Unicode encoding",
    ),
    "A8": Requirement(
        "Five hundred texts with joined emoji, flags, Persian, Hindi and Hebrew are kept byte for "
        "byte: none is refused, nothing in them is taken.",
        "Unicode UTS #51; UAX #31, section 2.3",
    ),
    "B1": Requirement(
        "A token is accepted only with an asymmetric algorithm and a key of its issuer, its type, "
        "exact issuer and our audience, in its time, with a subject; of 120 forgeries none is.",
        "RFC 8725; RFC 9068, section 4",
    ),
    "A19": Requirement(
        "Writing to a shared space takes a grant; what is in it says who wrote it, and nobody "
        "writes under another's name.",
        "OWASP Top 10 for Agentic Applications 2026, ASI06: memory and context poisoning",
    ),
    "B2": Requirement(
        "Tenant, user and client come from the credential alone; an id in arguments, headers, "
        "`_meta` or a cursor must match it or the call is refused and audited.",
        "OWASP API Security 2023, API1: broken object level authorization",
    ),
    "B3": Requirement(
        "The MCP endpoint answers what it does not serve as the protocol says: 401 with where to "
        "get a token, 403 with every scope needed, 400 for headers that are not the body's and for "
        "an unknown revision, 404, 405, no batches.",
        "MCP 2026-07-28, transports and authorization; RFC 6750; RFC 9728",
    ),
    "B4": Requirement(
        "Scope and policy are judged for every tool and every route, and a list shows exactly what "
        "a call would be allowed; nothing is served that has no action.",
        "OWASP API Security 2023, API5: broken function level authorization",
    ),
    "B5": Requirement(
        "The credential of a caller appears in no outbound request, log, span, error or row.",
        "MCP security best practices, token passthrough",
    ),
    "B6": Requirement(
        "When an issuer's keys cannot be had, no token is accepted; a thousand unknown key ids "
        "make two fetches; keys come over https, bounded, unredirected, from no inner address.",
        "RFC 8725, 3.10; CWE-918: server-side request forgery",
    ),
    "B7": Requirement(
        "`Host` and `Origin` are ours on every bind; `null`, repeated, malformed and look-alike "
        "ones are refused.",
        "MCP 2026-07-28, transports, security warning (DNS rebinding)",
    ),
    "B8": Requirement(
        "Older revisions are served without a session or not at all; a session id is nobody's, and "
        "a missing version never weakens authentication.",
        "MCP security best practices, session hijacking",
    ),
    "B9": Requirement(
        "State that a caller carries is sealed, bound to caller, call and time, and good once "
        "where it causes an effect, whichever replica it comes back to.",
        "MCP 2026-07-28, multi round-trip requests, server requirements",
    ),
    "B10": Requirement(
        "What is for one caller is marked private and not to be stored, and no cache on the way "
        "gives it to another.",
        "RFC 9111, 5.2.2",
    ),
    "B11": Requirement(
        "What cannot be undone needs a person who proved lately who they are, or who confirms that "
        "very call.",
        "RFC 9470; MCP 2026-07-28, elicitation",
    ),
    "B12": Requirement(
        "An API key is kept as its id and a peppered HMAC, compared in constant time also when the "
        "id is unknown; it expires, holds from its networks alone, and a revoked one is refused at "
        "once; its pepper rotates under it.",
        "RFC 2104; OWASP API Security 2023, API2: broken authentication",
    ),
    "B13": Requirement(
        "A token that is bound to a key is accepted only with a proof of that key for this "
        "request, once over all replicas; never as a bearer token.",
        "RFC 9449",
    ),
    "B14": Requirement(
        "Spans, metrics and logs carry no content, exception text, credential, query or raw id; a "
        "client's trace is at most linked.",
        "CWE-532: insertion of sensitive information into log file",
    ),
    "B15": Requirement(
        "What a model is told of a tool changes with a review only, and refers to nothing outside.",
        "OWASP Top 10 for LLM Applications 2025, LLM03: supply chain (tool poisoning)",
    ),
    "B16": Requirement(
        "In production nothing starts on a missing, weak or placeholder secret, a store without "
        "verified TLS, a wildcard origin, no audit anchor, or a role that steps over a wall; each "
        "setting at fault is named.",
        "CWE-1188: initialization of a resource with an insecure default",
    ),
    "C1": Requirement(
        "Every access to data takes one Scope, which the enforcer alone mints.",
        "Saltzer and Schroeder 1975, complete mediation",
    ),
    "C2": Requirement(
        "No policy, an unknown subject, object or action, a malformed id or a failing matcher "
        "denies.",
        "Saltzer and Schroeder 1975, fail-safe defaults",
    ),
    "C3": Requirement(
        "Names are compared byte for byte and actions are enumerated; no pattern is matched on "
        "what a caller wrote.",
        "CWE-625: permissive regular expression",
    ),
    "C4": Requirement(
        "A right that was taken away holds nowhere from then on: what was judged under an older "
        "epoch of a tenant's rights does not commit, and a version token is judged at its epoch or "
        "a later one.",
        "Zanzibar (USENIX ATC 2019), the new-enemy problem",
    ),
    "C5": Requirement(
        "PostgreSQL enforces the Scope by itself on every table with a tenant: forced row-level "
        "security, a role without bypass, an unset tenant sees no row, through a pooler too.",
        "PostgreSQL manual, row security policies",
    ),
    "C6": Requirement(
        "Every call to the vector index carries tenant and owner, and each hit is confirmed "
        "against the record before it is answered.",
        "CWE-639: authorization bypass through user-controlled key",
    ),
    "C7": Requirement(
        "The id of a point is a keyed hash of tenant, owner, memory and chunk: no caller can make "
        "one that meets another's.",
        "CWE-639: authorization bypass through user-controlled key",
    ),
    "C8": Requirement(
        "A key of a cache, a budget or an idempotent reply is a length-prefixed tuple with tenant, "
        "user and policy version; two tuples never give one key.",
        "CWE-524: use of cache containing sensitive information",
    ),
    "C9": Requirement(
        "What is foreign, missing, erased or quarantined by another answers with one status, body "
        "and set of headers.",
        "CWE-204: observable response discrepancy",
    ),
    "C10": Requirement(
        "Whatever people of several tenants do, share and take back, with keys and with tokens, "
        "no byte of one reaches who may not see it at that moment; nor while a part is away.",
        "OWASP API Security 2023, API1: broken object level authorization",
    ),
    "C11": Requirement(
        "No number of one tenant (sizes, frequencies, duplicates, caches) moves a score or an "
        "order of another.",
        "CWE-203: observable discrepancy",
    ),
    "C12": Requirement(
        "A policy is linted and run against its own cases before it decides; one that fails leaves "
        "the last good one in force, and says so.",
        "NIST SP 800-192, verification and test of access control policies",
    ),
    "C13": Requirement(
        "The audit event commits with its effect, reads and denials too; with no audit there is "
        "no answer.",
        "NIST SP 800-53, AU-5 and AU-12",
    ),
    "C20": Requirement(
        "Duties are apart: whoever administers or audits a tenant, or hosts it, reads no content, "
        "and no policy of the tenant can let them.",
        "NIST SP 800-53, AC-5: separation of duties",
    ),
    "C21": Requirement(
        "What tenant, key and person may spend in a minute is counted at once and exactly over all "
        "replicas, by the server's clock; a call without a tenant is refused, not unlimited.",
        "OWASP API Security 2023, API4: unrestricted resource consumption",
    ),
    "D1": Requirement(
        "Generated values are found whole, glued to Chinese, full-width, spaced or with invisible "
        "signs: 99 in 100 with a check digit, 97 of the rest; of decoys 1 in 200 at most.",
        "GB 11643; ISO/IEC 7812; ISO 13616; ITU-T E.164",
    ),
    "D2": Requirement(
        "Forty hostile texts of 100 KB are judged to their end or refused, with work that grows "
        "with the text and not faster; the strings of a request have one budget of time together, "
        "and none passes unjudged.",
        "CWE-1333: inefficient regular expression complexity",
    ),
    "D3": Requirement(
        "95 in 100 secrets are refused, of kinds with a rule, without one, encoded once or twice; "
        "2 in 100 harmless notes and lines of code at most.",
        "CWE-200; the vendors' published formats",
    ),
    "D4": Requirement(
        "Every string of a request passes the guard: content, metadata keys and values, tags, "
        "entities, names, updates.",
        "GDPR, article 25: data protection by design",
    ),
    "D5": Requirement(
        "A redaction takes every finding whole and nothing else, however findings overlap, with "
        "emoji and combining marks beside them.",
        "GDPR, article 25: data protection by design",
    ),
    "D6": Requirement(
        "A pseudonym is one word for one value of one person and kind, comparable with nobody "
        "else's; only who may reveal gets the value back, for a purpose, on record, and no word "
        "that is typed, foreign, moved or forgotten stands for anything.",
        "GDPR, articles 4(5) and 32: pseudonymisation, the additional information kept apart",
    ),
    "D7": Requirement(
        "What is done with a kind is the policy's word, by namespace, source and layer; what tells "
        "of finance, biometrics, a precise place or a child under 14 ends within a day by default.",
        "PIPL, articles 28 and 31; GDPR, articles 5(1)(e) and 9",
    ),
    "D8": Requirement(
        "docs/guard.md lists every kind, how it is told and how well, in English and Chinese with "
        "intervals; kinds told by their surroundings are called best effort.",
        "ISO/IEC 27559, section 7: what a measure does is stated",
    ),
    "D14": Requirement(
        "Personal data is in no log, error, metric label, trace, repr or validation message.",
        "CWE-209: error message containing sensitive information",
    ),
    "E1": Requirement(
        "What is kept is sealed with AES-256-GCM-SIV, bound to its tenant, user, memory, version "
        "and field; ciphertext moved anywhere else does not open.",
        "RFC 8452",
    ),
    "E2": Requirement(
        "An envelope commits to its key: no second key opens it to another text.",
        "Albertini and others, USENIX Security 2022, key commitment",
    ),
    "E7": Requirement(
        "Words are looked up by keyed hashes per owner and field; one word of two owners gives "
        "unlike tokens, and a hit is verified after it is opened.",
        "RFC 2104",
    ),
    "E11": Requirement(
        "What is sensitive is in no vector index; its person finds it all the same, by blind words "
        "and by sealed vectors compared in this process; nobody else does, nor once it has ended.",
        "GDPR, article 32; CWE-311: missing encryption of sensitive data",
    ),
    "F3": Requirement(
        "The same idempotency key and body have one effect and one reply; another body conflicts.",
        "IETF draft, the Idempotency-Key HTTP header field",
    ),
    "F6": Requirement(
        "Malformed requests get no 5xx and no traceback, and cost bounded memory.",
        "CWE-20: improper input validation",
    ),
    "F7": Requirement(
        "A tenant that asks for more than its share is refused at once and takes no slot, place in "
        "a queue or budget of another.",
        "CWE-770: allocation of resources without limits or throttling",
    ),
    "F9": Requirement(
        "At SIGTERM a gateway says `not ready` first, then finishes what is under way; a rolling "
        "restart behind a balancer fails no request.",
        "Site Reliability Engineering, load balancing in the datacenter (lame duck state)",
    ),
    "F14": Requirement(
        "Every call out has what is left of the request's deadline; a hanging part delays no "
        "answer beyond it.",
        "Site Reliability Engineering, addressing cascading failures",
    ),
    "M1": Requirement(
        "Over thousands of random operations of twenty users in five tenants no reply, error, "
        "metric, span or audit view holds an id of another.",
        "docs/architecture.md",
    ),
    "M2": Requirement(
        "A text that was refused or deleted is nowhere under the data folder as bytes, while the "
        "gateway runs and after it stopped.",
        "docs/architecture.md",
    ),
    "M3": Requirement(
        "After any kill, each acknowledged write is there once, is recalled and is audited once, "
        "and the index equals the record.",
        "docs/architecture.md",
    ),
    "M4": Requirement(
        "A memory whose stored bytes were changed or moved is withheld and audited, and the call "
        "answers for the others.",
        "docs/architecture.md",
    ),
    "M5": Requirement(
        "The index can be lost: it is rebuilt from the record, and recall is what it was.",
        "docs/architecture.md",
    ),
    "M6": Requirement(
        "The audit log verifies, and an event edited, dropped, swapped or forged is found.",
        "docs/architecture.md",
    ),
    "M7": Requirement(
        "A data folder has one gateway: a second is refused, the engines end with the first, and "
        "no parent folder's mode is changed.",
        "docs/architecture.md",
    ),
}
