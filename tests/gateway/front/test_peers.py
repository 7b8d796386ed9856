"""The address of a caller, behind proxies of our own and behind anybody's."""

import pytest

from gateway.front.peers import MOST_HOPS, Peers
from gateway.settings import SettingsInvalid, load

pytestmark = pytest.mark.requirement("B12")

PROXIES = ("10.0.0.0/8", "2001:db8::/48")
CALLER = "203.0.113.7"


def seen(client, *forwarded: str, proxies=PROXIES) -> str | None:
    async def app(*_):
        raise NotImplementedError

    headers = [(b"x-forwarded-for", each.encode("latin-1")) for each in forwarded]
    found = Peers(app, proxies).of({"client": client, "headers": headers})
    return None if found is None else str(found)


@pytest.mark.parametrize(
    ("client", "forwarded", "wanted"),
    [
        (CALLER, [], CALLER),
        (CALLER, ["198.51.100.1"], CALLER),
        (CALLER, ["10.0.0.5, 198.51.100.1"], CALLER),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", [CALLER], CALLER),
        ("10.0.0.1", [f"198.51.100.1, {CALLER}"], CALLER),
        ("10.0.0.1", [f"198.51.100.1,{CALLER},10.9.9.9"], CALLER),
        ("10.0.0.1", ["198.51.100.1", CALLER], CALLER),
        ("10.0.0.1", [f"{CALLER}, 10.0.0.2", "10.0.0.3"], CALLER),
        ("::ffff:10.0.0.1", [CALLER], CALLER),
        ("2001:db8::1", ["2001:db9::7"], "2001:db9::7"),
        ("10.0.0.1", [f"::ffff:{CALLER}"], CALLER),
        ("10.0.0.1", ["10.0.0.2"], None),
        ("10.0.0.1", [""], None),
        ("10.0.0.1", [f"{CALLER},"], None),
        ("10.0.0.1", ["unknown"], None),
        ("10.0.0.1", [f"{CALLER}:4711"], None),
        ("10.0.0.1", [f"for={CALLER}"], None),
        ("10.0.0.1", [f"{CALLER}, _hidden"], None),
        ("10.0.0.1", [f"{CALLER} 10.0.0.2"], None),
        ("10.0.0.1", [", ".join([CALLER] + ["10.0.0.2"] * MOST_HOPS)], None),
        ("10.0.0.1", [CALLER + "\x00"], None),
        (None, [CALLER], None),
        ("/run/socket", [CALLER], None),
    ],
)
def test_only_what_our_own_proxies_wrote_is_believed(client, forwarded, wanted):
    assert seen(None if client is None else (client, 1), *forwarded) == wanted


def test_without_proxies_nothing_is_read():
    for client in (CALLER, "10.0.0.1", "127.0.0.1"):
        assert seen((client, 1), "198.51.100.1", proxies=()) == client


async def test_the_application_within_sees_the_caller_as_its_client():
    told = []

    async def app(scope, _receive, _send):
        told.append((scope["type"], scope.get("client")))

    async def unused(*_messages):
        raise AssertionError

    headers = [(b"x-forwarded-for", CALLER.encode())]
    for kind, client in (("http", ("10.0.0.1", 4)), ("http", (CALLER, 4)), ("lifespan", None)):
        scope = {"type": kind, "client": client, "headers": headers}
        await Peers(app, PROXIES)(scope, unused, unused)
        await Peers(app)(scope, unused, unused)
    assert told == [
        ("http", (CALLER, 0)),
        ("http", ("10.0.0.1", 4)),
        ("http", (CALLER, 0)),
        ("http", (CALLER, 4)),
        ("lifespan", None),
        ("lifespan", None),
    ]


def test_a_proxy_that_is_no_network_stops_the_start():
    async def app(*_):
        raise NotImplementedError

    with pytest.raises(ValueError, match=r"."):
        Peers(app, ["proxy.example"])


@pytest.mark.parametrize("network", ["proxy.example", "10.0.0.1/8", "0.0.0.0/0", "::/0", "*", ""])
def test_settings_name_their_proxies_and_never_everybody(network):
    with pytest.raises(SettingsInvalid) as refused:
        load(trusted_proxies=("10.0.0.0/8", network))
    assert refused.value.faults == (
        "MEMWARDEN_TRUSTED_PROXIES: name each network of a proxy, in CIDR",
    )
    assert load(trusted_proxies=PROXIES).trusted_proxies == PROXIES
