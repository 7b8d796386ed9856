"""Imports that one room alone may have; import-linter proves the arrows between packages."""

import pytest

from tests.architecture.source import SHIPPED, importers

KEY_ROOMS = ("gateway/vault/", "gateway/audit/", "gateway/auth/")
# PostgreSQL is given SCRAM verifiers (RFC 5802) instead of passwords; they are made with an HMAC.
SCRAM = {("hmac", "gateway/embedded/roles.py")}


def test_text_is_normalised_in_one_module():
    assert importers("unicodedata", *SHIPPED) == {"gateway/guard/normalise.py"}


@pytest.mark.requirement("E1")
@pytest.mark.parametrize("package", ["cryptography", "hmac"])
def test_keys_are_used_in_three_rooms_only(package):
    found = importers(package, *SHIPPED)
    assert found
    assert {(package, path) for path in found if not path.startswith(KEY_ROOMS)} <= SCRAM
