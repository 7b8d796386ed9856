"""API keys: their spelling, their secret, and what a verification costs."""

import hashlib
import hmac
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Unavailable
from gateway.auth import keys as module
from gateway.auth.keys import KeySmith, parse_credential
from tests.gateway.auth.rows import PEPPERS, make_row

pytestmark = pytest.mark.requirement("B12")


@pytest.fixture
def smith() -> KeySmith:
    return KeySmith(PEPPERS)


def test_a_minted_key_is_spelled_as_the_contract_says(smith):
    minted = smith.mint()
    key_id, secret = minted.credential.removeprefix("mw_").split("_")
    assert key_id == minted.key_id
    assert re.fullmatch("[a-z2-7]{16}", key_id)
    assert 62 ** len(secret) >= 2**256


def test_no_two_keys_are_alike(smith):
    minted = [smith.mint() for _ in range(200)]
    assert len({one.key_id for one in minted}) == 200
    assert len({one.credential for one in minted}) == 200
    assert len({one.secret_mac for one in minted}) == 200


def test_what_is_kept_is_a_mac_under_the_pepper_and_not_the_secret(smith):
    minted = smith.mint()
    version, pepper = PEPPERS.pepper()
    message = minted.credential.removeprefix("mw_").encode()
    assert minted.secret_mac == hmac.digest(pepper, message, hashlib.sha256)
    assert minted.pepper_version == version


def test_a_credential_does_not_slip_out_of_a_repr(smith):
    minted = smith.mint()
    secret = minted.credential.rpartition("_")[2]
    parsed = parse_credential(minted.credential)
    row = make_row(minted)
    for shown in (repr(minted), str(minted), f"{minted}", repr(parsed), repr(row), repr(smith)):
        assert secret not in shown
        assert minted.secret_mac.hex() not in shown
        assert str(minted.secret_mac) not in shown


def test_the_right_secret_proves_the_key(smith):
    minted = smith.mint()
    assert smith.verify(minted.credential, make_row(minted))


def test_a_secret_proves_no_other_key(smith):
    mine, other = smith.mint(), smith.mint()
    swapped = f"mw_{other.key_id}_{mine.credential.rpartition('_')[2]}"
    assert not smith.verify(swapped, make_row(other))
    assert not smith.verify(mine.credential, make_row(other))


def test_a_mac_copied_onto_another_row_proves_nothing(smith):
    mine, victim = smith.mint(), smith.mint()
    row = make_row(victim, secret_mac=mine.secret_mac)
    secret = mine.credential.rpartition("_")[2]
    assert not smith.verify(f"mw_{victim.key_id}_{secret}", row)


def test_during_the_overlap_of_a_rotation_both_secrets_work_and_after_it_the_new_one(smith):
    old = smith.mint()
    new = smith.remint(make_row(old))
    assert new.key_id == old.key_id
    assert new.pepper_version == old.pepper_version
    overlap = make_row(new, previous_mac=old.secret_mac)
    assert smith.verify(old.credential, overlap)
    assert smith.verify(new.credential, overlap)
    over = make_row(new, previous_mac=None)
    assert not smith.verify(old.credential, over)
    assert smith.verify(new.credential, over)


def test_a_key_is_verified_under_the_pepper_it_was_made_with():
    older = KeySmith(PEPPERS.up_to(1))
    minted = older.mint()
    assert minted.pepper_version == 1
    newer = KeySmith(PEPPERS)
    assert newer.mint().pepper_version == 2
    assert newer.verify(minted.credential, make_row(minted))
    assert not newer.verify(minted.credential, make_row(minted, pepper_version=2))


def test_a_pepper_that_is_not_here_is_no_reason_to_let_anybody_in():
    minted = KeySmith(PEPPERS).mint()
    with pytest.raises(Unavailable):
        KeySmith(PEPPERS.up_to(1)).verify(minted.credential, make_row(minted))


@given(mac=st.binary(min_size=0, max_size=40))
def test_no_kept_mac_but_the_right_one_is_accepted(mac):
    smith = KeySmith(PEPPERS)
    minted = smith.mint()
    assert smith.verify(minted.credential, make_row(minted, secret_mac=mac)) is (
        mac == minted.secret_mac
    )


def test_an_all_zero_mac_in_a_row_opens_nothing(smith):
    minted = smith.mint()
    row = make_row(minted, secret_mac=bytes(32), previous_mac=bytes(32))
    assert not smith.verify(minted.credential, row)
    assert not smith.verify("mw_" + "a" * 16 + "_" + "0" * 43, row)
    assert not smith.verify(None, row)


def test_a_dummy_that_matched_by_chance_would_still_prove_nothing(smith, monkeypatch):
    minted = smith.mint()
    monkeypatch.setattr(module, "_mac", lambda *_: bytes(32))
    assert not smith.verify(minted.credential, None)
    assert not smith.verify("nothing", make_row(minted, secret_mac=bytes(32)))
    assert not smith.verify(minted.credential, make_row(minted))


GOOD = "mw_" + "abcdefgh234567zz" + "_" + "Aa0" * 14 + "Z"
FORGED = [
    None,
    "",
    "mw_",
    "mw__",
    "Bearer " + GOOD,
    GOOD[:-1],
    GOOD + "a",
    GOOD + "\n",
    GOOD + "\x00",
    " " + GOOD,
    GOOD + " ",
    GOOD.replace("mw_", "MW_"),
    GOOD.replace("mw_", "mw-"),
    GOOD.replace("mw_", ""),
    GOOD.replace("mw_", "mw_mw_"),
    GOOD.replace("a", "A", 1),
    GOOD.replace("2", "1", 1),
    GOOD.replace("2", "٢", 1),  # a digit to `str.isdigit`, and none to us
    GOOD.replace("b", "ｂ", 1),  # NFKC would fold it
    GOOD.replace("Z", "é"),
    GOOD.replace("Z", "_"),
    GOOD.replace("Z", "-"),
    GOOD.replace("Z", "%5A"),
    GOOD + "_x",
    GOOD * 5,
    "mw_" + "a" * 300,
    "a" * 1_000_000,
    "mw_" + "a" * 16 + "_" + "\ud800" * 43,
    "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.",
    "*",
    "null",
]


@pytest.mark.parametrize("credential", FORGED, ids=range(len(FORGED)))
def test_what_is_not_spelled_as_ours_is_no_credential(smith, credential):
    assert parse_credential(credential) is None
    assert not smith.verify(credential, None)
    assert not smith.verify(credential, make_row(smith.mint()))


@given(st.text())
def test_no_text_is_taken_for_a_credential_by_accident(text):
    parsed = parse_credential(text)
    assert parsed is None or f"mw_{parsed.key_id}_{parsed.secret}" == text


def test_every_verification_does_the_same_work(smith, monkeypatch):
    minted, other = smith.mint(), smith.mint()
    row = make_row(minted)
    wrong = f"mw_{minted.key_id}_{other.credential.rpartition('_')[2]}"
    work: list[str] = []

    def counted_digest(*args):
        work.append("hmac")
        return hmac.digest(*args)

    def counted_compare(*args):
        work.append("compare")
        assert [len(one) for one in args] == [32, 32]  # unequal lengths would end sooner
        return hmac.compare_digest(*args)

    class Counted:
        digest = staticmethod(counted_digest)
        compare_digest = staticmethod(counted_compare)

    monkeypatch.setattr(module, "hmac", Counted)
    costs = {}
    for name, credential, found in [
        ("right", minted.credential, row),
        ("wrong secret", wrong, row),
        ("unknown id", other.credential, None),
        ("malformed", "mw_nothing", None),
        ("nothing", None, None),
        ("too long", "a" * 100_000, None),
        ("in overlap", minted.credential, make_row(minted, previous_mac=other.secret_mac)),
    ]:
        work.clear()
        smith.verify(credential, found)
        costs[name] = tuple(work)
    assert set(costs.values()) == {("hmac", "compare", "compare")}


def test_a_credential_minted_earlier_is_adopted_under_the_current_pepper(smith):
    minted = KeySmith(PEPPERS.up_to(1)).mint()
    adopted = smith.adopt(minted.credential)
    assert (adopted.key_id, adopted.pepper_version) == (minted.key_id, 2)
    assert smith.verify(minted.credential, make_row(adopted))
    with pytest.raises(ValueError, match="not a credential"):
        smith.adopt("mw_nothing")
