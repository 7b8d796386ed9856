"""The setting that says whose tokens are accepted."""

import json

import pytest

from gateway.settings import SettingsInvalid, load
from tests.identity.issuer import AUDIENCE

pytestmark = pytest.mark.requirement("B1")

TENANT = "01234567-89ab-7cde-8f01-23456789abcd"
GOOD = {
    "name": "keycloak",
    "issuer": "https://id.example/realms/acme",
    "audience": AUDIENCE,
    "tenant": TENANT,
    "roles_claim": ["realm_access", "roles"],
    "roles": {"memory-user": ["reader", "writer"]},
}
SECRET = "a-value-that-is-not-shown"

BAD = {
    "no name": {"name": None},
    "a name with a space": {"name": SECRET + " x"},
    "no issuer": {"issuer": None},
    "an issuer over http": {"issuer": f"http://{SECRET}.example"},
    "an issuer on loopback over http": {"issuer": "http://127.0.0.1:8080"},
    "an issuer over another scheme": {"issuer": f"ftp://{SECRET}"},
    "an issuer without a host": {"issuer": "https:///x"},
    "an issuer with a user": {"issuer": f"https://{SECRET}@id.example"},
    "an issuer with a query": {"issuer": f"https://id.example?{SECRET}"},
    "an issuer with a fragment": {"issuer": f"https://id.example#{SECRET}"},
    "an issuer with a space": {"issuer": f"https://id.example/ {SECRET}"},
    "a broken port": {"issuer": "https://id.example:port"},
    "keys over http": {"jwks_uri": f"http://id.example/{SECRET}"},
    "loopback allowed for a host that is none": {
        "issuer": "http://localhost.evil.example", "allow_http_loopback": True,
    },
    "an empty audience": {"audience": ""},
    "no audience in a list": {"audience": []},
    "an empty audience in a list": {"audience": [AUDIENCE, ""]},
    "no algorithm": {"algorithms": []},
    "the algorithm none": {"algorithms": ["none"]},
    "a secret's algorithm": {"algorithms": ["RS256", "HS256"]},
    "an unknown algorithm": {"algorithms": [SECRET]},
    "no type": {"types": []},
    "no tenant": {"tenant": None},
    "a tenant and a claim": {"tenant_claim": "tenant"},
    "a tenant that is a name": {"tenant": SECRET},
    "the nil tenant": {"tenant": "00000000-0000-0000-0000-000000000000"},
    "an unknown role": {"roles": {"x": [SECRET]}},
    "the operator's role": {"roles": {"x": ["operator"]}},
    "the operator's role by default": {"default_roles": ["operator"]},
    "roles without their claim": {"roles_claim": None},
    "a roles claim without roles": {"roles": {}},
    "no roles at all": {"roles_claim": None, "roles": None},
    "a namespace that is everything": {"namespaces": ["*"]},
    "an empty user claim": {"user_claim": []},
    "everybody without a claim": {"users": {"values": ["x"]}},
    "everybody": {"users": "everyone"},
    "a ceiling that is the gateway's own": {"source_ceiling": "operator"},
    "a file that is not there": {"ca_file": f"/nonexistent/{SECRET}"},
    "an unknown field": {"verify": False},
}  # fmt: skip


def changed(changes):
    whole = GOOD | changes
    return {name: value for name, value in whole.items() if value is not None}


@pytest.mark.parametrize("changes", BAD.values(), ids=BAD)
def test_it_stops_the_start_with(monkeypatch, changes):
    monkeypatch.setenv("MEMWARDEN_ISSUERS", json.dumps([changed(changes)]))
    with pytest.raises(SettingsInvalid) as err:
        load()
    assert "MEMWARDEN_ISSUERS" in str(err.value)
    assert SECRET not in str(err.value)


@pytest.mark.parametrize("text", ["", "[", SECRET, '{"name": 1}', f'["{SECRET}"]'])
def test_it_stops_the_start_with_what_is_no_list_of_issuers(monkeypatch, text):
    monkeypatch.setenv("MEMWARDEN_ISSUERS", text)
    with pytest.raises(SettingsInvalid) as err:
        load()
    assert "MEMWARDEN_ISSUERS" in str(err.value)
    assert SECRET not in str(err.value)


@pytest.mark.parametrize("second", [{"name": "other"}, {"issuer": "https://other.example"}])
def test_two_issuers_have_two_names_and_two_addresses(second):
    with pytest.raises(SettingsInvalid, match="ISSUERS"):
        load(issuers=[GOOD, GOOD | second])


def test_good_ones_are_read_from_the_environment_and_from_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("MEMWARDEN_ISSUERS", json.dumps([GOOD]))
    read = load().issuers
    monkeypatch.delenv("MEMWARDEN_ISSUERS")
    config = tmp_path / "memwarden.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in GOOD.items() if name != "roles"]
    roles = ["[issuers.roles]", 'memory-user = ["reader", "writer"]']
    config.write_text("\n".join(["[[issuers]]", *lines, *roles]))
    assert load(config).issuers == read
    (issuer,) = read
    assert issuer.audiences("https://elsewhere.example") == {AUDIENCE}
    assert issuer.types == {"at+jwt"}
    assert issuer.algorithms == {"RS256", "ES256"}
    assert issuer.user_claim == ("sub",)
    assert issuer.scopes_required


def test_in_production_nothing_is_plain_and_the_audience_is_known():
    loopback = GOOD | {"issuer": "http://127.0.0.1:8080", "allow_http_loopback": True}
    assert load(issuers=[loopback]).issuers
    with pytest.raises(SettingsInvalid, match="allow_http_loopback"):
        load(issuers=[loopback], environment="production", public_url="https://memory.example")
    with pytest.raises(SettingsInvalid, match="no audience"):
        load(issuers=[changed({"audience": None})], environment="production")
