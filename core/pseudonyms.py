"""Pseudonyms: what stands in a memory for a value that its person's own may have back.

Rules this module keeps:
- A word is a keyed hash of person, kind and value under the owner's key: equal for equal values of
  one person and one kind, and comparable with nothing of anybody else, in a shared space neither.
- A text that only looks like a placeholder resolves to nothing: what one stands for is looked up,
  never read out of it. What stands for nothing is written `[PHONE_NUMBER]`, and reported.
- The guard knows nobody's key yet. It leaves marks, placeholders whose words are drawn at random
  for one request, and `settled` gives them their words, before anything is embedded or kept.
- A value is kept with each version of a memory that holds its word, sealed at that version and that
  word, in every spelling it had there: what is restored is what was written, to the character.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from core.ids import MemoryId, NamespaceId, UserId
from core.model import Details, Json, Query, Redaction
from core.placeholders import (
    TOKEN_BYTES,
    Entry,
    Mark,
    Marks,
    Originals,
    Path,
    place_of,
    placeholder,
    replaced,
    token_of,
    word_of,
    words_in,
)
from core.ports import OwnerKeys, Place, SealedPseudonym

NO_PSEUDONYM = "PSEUDONYM"
"""The kind under which it is reported that something looked like a placeholder, and was none."""

_PLAIN_KEY = re.compile(r"[^\W\d][\w-]{0,63}")

Visit = Callable[[Path, str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """Texts whose placeholders all stand for something.

    Args:
        redactions: of what only looked like one.
    """

    content: str = field(repr=False)
    details: Details
    originals: Originals
    redactions: tuple[Redaction, ...]


def word(keys: OwnerKeys, person: UserId, mark: Mark) -> str:
    """Return the word of a value of `person` under the owner's keys."""
    # A person's id and a kind hold no line break, so that no two inputs are one.
    text = f"{person}\n{mark.kind}\n{mark.canonical}"
    return word_of(keys.blind("pseudonym", text)[:TOKEN_BYTES])


def settled(
    content: str,
    details: Details,
    *,
    marks: Marks,
    known: Mapping[str, Entry],
    keys: OwnerKeys,
    person: UserId,
) -> Settled:
    """Return the texts with each mark turned into its word, and with no other placeholder than
    those in `known`.

    Args:
        known: words that came with the text and are the person's own, as the record has them.
    """
    values: dict[str, tuple[str, str]] = {}
    spellings: dict[tuple[Path, str], tuple[str | None, ...]] = {}
    dropped: Counter[str] = Counter()

    def visit(path: Path, text: str) -> str:
        spelled: list[str | None] = []

        def settle(kind: str, found: str) -> str:
            mark, entry = marks.get(found), known.get(found)
            if mark is not None and mark.kind == kind:
                found, value, spelling = word(keys, person, mark), mark.value, mark.spelling
            elif entry is not None and entry.kind == kind:
                value = spelling = entry.value
            else:
                dropped[_shown(path)] += 1
                return f"[{kind}]"
            values.setdefault(found, (kind, value))
            spelled.append(spelling)
            return placeholder(kind, found)

        written = replaced(text, settle)
        if spelled:
            spellings[path, written] = tuple(spelled)
        return written

    content, details = rewritten(content, details, visit)
    return Settled(
        content=content,
        details=details,
        originals=Originals(values=values, spellings=spellings),
        redactions=tuple(
            Redaction(kind=NO_PSEUDONYM, action="redact", field=path, count=often)
            for path, often in dropped.items()
        ),
    )


def settled_query(query: Query, keys: OwnerKeys | None, person: UserId | None) -> Query:
    """Return `query` as it is asked of one owner.

    A placeholder that came with it stays: its word finds what the owner has under it, or nothing.

    Args:
        keys, person: None for nobody's: then a value is told by its kind alone.
    """
    if not query.marks:
        return query

    def settle(kind: str, found: str) -> str:
        mark = query.marks.get(found)
        if mark is None:
            return placeholder(kind, found)
        if keys is None or person is None:
            return f"[{kind}]"
        return placeholder(kind, word(keys, person, mark))

    return query.saying(replaced(query.text, settle))


def entries(content: str, details: Details, *sources: Originals) -> dict[str, Entry]:
    """Return what is to be kept of each word in the texts of one version.

    Args:
        sources: where values are looked up; of two that know a text, the first counts.
    """
    found: dict[str, Entry] = {}
    texts = count()

    def visit(path: Path, text: str) -> str:
        held = words_in(text)
        at = next(texts) if held else 0
        known = _spelled(sources, path, text)
        for number, (kind, each) in enumerate(held):
            value = next((one.values[each] for one in sources if each in one.values), None)
            if value is None or value[0] != kind:
                continue
            entry = found.setdefault(each, Entry(kind=kind, value=value[1]))
            spelling = known[number] if known else None
            if spelling is not None and spelling != entry.value:
                entry.spelled[place_of(at, number)] = spelling
        return text

    rewritten(content, details, visit)
    return found


def _spelled(sources: Iterable[Originals], path: Path, text: str) -> tuple[str | None, ...]:
    known = (one.spellings.get((path, text)) for one in sources)
    return next((each for each in known if each is not None), ())


def originals(content: str, details: Details, kept: Mapping[str, Entry]) -> Originals:
    """Return the values behind the placeholders of one version, from what is kept of its words."""
    spellings: dict[tuple[Path, str], tuple[str | None, ...]] = {}
    texts = count()

    def visit(path: Path, text: str) -> str:
        held = words_in(text)
        if held:
            at = next(texts)
            spellings[path, text] = tuple(
                kept[each].spelled.get(place_of(at, number), kept[each].value)
                if each in kept and kept[each].kind == kind
                else None
                for number, (kind, each) in enumerate(held)
            )
        return text

    rewritten(content, details, visit)
    values = {each: (entry.kind, entry.value) for each, entry in kept.items()}
    return Originals(values=values, spellings=spellings)


def restored(content: str, details: Details, of: Originals) -> tuple[str, Details, int]:
    """Return the texts with each value back in its place, and how many were put back."""
    done = 0

    def visit(path: Path, text: str) -> str:
        nonlocal done
        spelled = of.spellings.get((path, text))
        if spelled is None:
            return text
        values = iter(spelled)

        def restore(kind: str, found: str) -> str:
            nonlocal done
            value = next(values)
            if value is None:
                return placeholder(kind, found)
            done += 1
            return value

        return replaced(text, restore)

    content, details = rewritten(content, details, visit)
    return content, details, done


def hold_any(content: str, details: Details) -> bool:
    """Tell whether there is a placeholder in the texts, whoever put it there."""
    return bool(words_of(content, details))


def words_of(content: str, details: Details) -> frozenset[str]:
    """Return every word in the texts."""
    found: set[str] = set()

    def visit(_path: Path, text: str) -> str:
        found.update(each for _, each in words_in(text))
        return text

    rewritten(content, details, visit)
    return frozenset(found)


def sealed(
    kept: Mapping[str, Entry],
    keys: OwnerKeys,
    *,
    memory: MemoryId,
    version: int,
    namespace: NamespaceId,
) -> dict[bytes, bytes]:
    """Return the envelope of each word's entry, by its token."""
    return {
        token_of(each): keys.seal(_place(memory, version, namespace, each), entry.to_bytes())
        for each, entry in kept.items()
    }


def opened(rows: Iterable[SealedPseudonym], keys: OwnerKeys) -> dict[str, Entry]:
    """Return the entry of each word. Raises: Tampered (one is not what was sealed there)."""
    found = {}
    for row in rows:
        each = word_of(row.token)
        place = _place(row.memory, row.version, row.namespace, each)
        found[each] = Entry.from_bytes(keys.open(place, row.sealed))
    return found


def _place(memory: MemoryId, version: int, namespace: NamespaceId, each: str) -> Place:
    return Place(record=memory, version=version, field=f"pseudonym.{each}", namespace=namespace)


def rewritten(content: str, details: Details, visit: Visit) -> tuple[str, Details]:
    """Return the texts that may hold placeholders as `visit` leaves them.

    Names by which a memory is looked up hold none: the guard refuses personal data in them.
    """
    content = visit(("content",), content)
    ref = details.source_ref
    metadata = {
        key: _rebuilt(("metadata", key), value, visit) for key, value in details.metadata.items()
    }
    return content, Details(
        tags=details.tags,
        metadata=metadata,
        entities=tuple(
            visit(("entities", number), text) for number, text in enumerate(details.entities)
        ),
        source_ref=None if ref is None else visit(("source.ref",), ref),
        session_id=details.session_id,
        task=details.task,
        author=details.author,
        person=details.person,
    )


def _rebuilt(path: Path, value: Json, visit: Visit) -> Json:
    if isinstance(value, str):
        return visit(path, value)
    if isinstance(value, Mapping):
        return {key: _rebuilt((*path, key), item, visit) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_rebuilt((*path, number), item, visit) for number, item in enumerate(value)]
    return value


def _shown(path: Path) -> str:
    """Return a path for a report; a key that is no plain word ends it."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        elif not shown:
            shown = part
        elif _PLAIN_KEY.fullmatch(part):
            shown += f".{part}"
        else:
            break
    return shown
