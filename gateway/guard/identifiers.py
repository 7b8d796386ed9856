"""Checks the names a caller gives to things: users, namespaces, spaces, sessions, tags, keys.

Rules this module keeps:
- Identifiers compare byte for byte, so what cannot be told apart by eye is refused, not repaired:
  repairing would make two names one.
- A refusal names the field and never echoes the value.
- `*` is a wildcard in access rules and nobody's name.

Personal data in an identifier is judged by the guard, which rejects it: a look-up value is hashed,
and a masked one would find nothing.

Source: requirements C2, C3; UTS #36 (visual spoofing).
"""

from core.errors import Invalid
from gateway.guard.normalise import check_storable, has_unprintable, is_nfc

MAX_LENGTH = 128


def check_identifier(field: str, value: str, max_length: int = MAX_LENGTH) -> str:
    """Return `value` unchanged if it can serve as an identifier.

    Args:
        field: path of the field, for the refusal.
        value: the identifier as the caller wrote it.
        max_length: in code points.

    Raises:
        Invalid: empty, over-long, `*`, not NFC, white space at an end, or a control, format or
            invisible character, a space other than U+0020, U+0000 or a lone surrogate inside.
    """
    if not value:
        raise Invalid("An identifier cannot be empty.", field=field)
    if len(value) > max_length:
        raise Invalid(f"An identifier has at most {max_length} characters.", field=field)
    check_storable(value, field=field)
    if value == "*":
        raise Invalid("`*` is a wildcard and cannot be an identifier.", field=field)
    if value != value.strip():
        raise Invalid("An identifier cannot begin or end with white space.", field=field)
    if has_unprintable(value):
        raise Invalid("An identifier cannot hold control or invisible characters.", field=field)
    if not is_nfc(value):
        raise Invalid("An identifier must be in Unicode normalisation form C.", field=field)
    return value
