"""Secrets are seen in every dress; talk about secrets is none."""

import base64
import json

import pytest

from benchmarks.guard_harmless import HARMLESS
from benchmarks.guard_secrets import UNTOUCHED_SPLIT, secrets_by_split
from gateway.guard.normalise import normalise
from gateway.guard.rules import load_secret_rules, parse_secret_rules
from gateway.guard.scan import ScanTimeout
from gateway.guard.secrets import entropy_bits, find_secrets
from gateway.resources import data_path

RULES = load_secret_rules(data_path("policies", "secrets.yaml"))

# Made up; none opens anything. `ALNUM` runs are cut to the length each vendor documents.
ALNUM = "q7Zt2LmX9vRb4KsYc8NdW1fGh6JpTe3AuMi5Oo0DgBxVwEySzPrQnCkHlUaFjI4g"
HEX = "3fa94c07be8d126e5a70f9c4d81b2e63"
BODY = "MIIEowIBAAKCAQEAx7Qd2v9Lk0"

WORDS = [
    *("ribbon", "lunar", "copper", "meadow", "violin", "anchor"),
    *("puzzle", "timber", "orbit", "walnut", "cactus", "ember"),
]

SECRETS = {
    "SECRET.PRIVATE_KEY": [
        f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----",
        f"-----BEGIN PRIVATE KEY-----\\n{BODY}\\n-----END PRIVATE KEY-----\\n",
        f"-----BEGIN EC PRIVATE KEY-----\n{BODY}",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU=",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\nlQOYBF",
        f"- - - - - B E G I N  P R I V A T E  K E Y - - - - -\n{BODY}",
        f"-----BEGIN\nPRIVATE KEY-----\n{BODY}",
        f"—–—-BEGIN PRIVATE KEY—–\n{BODY}",
        f"－－－－－ＢＥＧＩＮ　ＰＲＩＶＡＴＥ　ＫＥＹ－－－－－\n{BODY}",
        "key body b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj",
        "PuTTY-User-Key-File-3: ssh-ed25519",
        f"AGE-SECRET-KEY-1{ALNUM.upper()[:58]}",
        '{"kty":"EC","crv":"P-256","d":"' + ALNUM[:43] + '"}',
        f"private key: 0x{HEX}{HEX}",
        f"私钥是{HEX}{HEX}",
    ],
    "SECRET.CLOUD_KEY": [
        "AKIAQ3EGR7HX2B5KZ4TW",
        "密钥AKIAQ3EGR7HX2B5KZ4TW在这里",
        "ASIAQ3EGR7HX2B5KZ4TW",
        "АКІАQ3EGR7HX2B5KZ4TW",
        f"aws_secret_access_key = {ALNUM[:40]}",
        f'"SecretAccessKey": "{ALNUM[:38]}/+"',
        f"AIza{ALNUM[:35]}",
        f"GOCSPX-{ALNUM[:28]}",
        '"private_key_id": "' + HEX + HEX[:8] + '"',
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey={ALNUM}{ALNUM[:22]}==",
        f"Endpoint=sb://x.example/;SharedAccessKeyName=k;SharedAccessKey={ALNUM[:43]}=",
        f"LTAI{ALNUM[:20]}",
        f"AKID{ALNUM[:32]}",
        f"dop_v1_{HEX}{HEX}",
        f"hvs.{ALNUM[:30]}",
        f"dapi{HEX}",
    ],
    "SECRET.TOKEN": [
        f"mw_k7f3q_{ALNUM[:32]}",
        f"MEMWARDEN_KEY=mw_01-ab_{ALNUM[:43]}",
        f"ghp_{ALNUM[:36]}",
        f"github_pat_{ALNUM[:22]}_{ALNUM[:59]}",
        f"glpat-{ALNUM[:20]}",
        f"xoxb-{'1234567890'}-{ALNUM[:24]}",
        f"https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/{ALNUM[:24]}",
        f"sk_live_{ALNUM[:24]}",
        f"sk-proj-{ALNUM[:48]}",
        f"sk-ant-api03-{ALNUM[:50]}",
        f"npm_{ALNUM[:36]}",
        f"pypi-AgEIcHlwaS5vcmc{ALNUM}",
        f"hf_{ALNUM[:34]}",
        f"SK{HEX}",
        f"SG.{ALNUM[:22]}.{ALNUM[:43]}",
        f"key-{HEX}",
        f"123456789:AA{ALNUM[:33]}",
        f"shpat_{HEX}",
        f"lin_api_{ALNUM[:40]}",
        f"glsa_{ALNUM[:32]}_{HEX[:8]}",
        f"Authorization: Bearer {ALNUM[:40]}",
        f"curl -H 'X-API-Key: {ALNUM[:32]}'",
        f"the api key is {ALNUM[:24]}",
        f"client_secret={ALNUM[:32]}",
        f"密钥：{ALNUM[:20]}",
        f"访问令牌是 {ALNUM[:24]}",
    ],
    "SECRET.JWT": [
        f"eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJyb3NhIn0.{ALNUM[:43]}",
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb3NhIn0.",
        f"eyJhbGciOiJFUzI1NiJ9.\n  eyJzdWIiOiJyb3NhIn0.\n  {ALNUM[:43]}",
        f"eyJhbGciOiJSU0EtT0FFUCJ9.{ALNUM[:40]}.{ALNUM[:16]}.{ALNUM[:30]}.{ALNUM[:22]}",
    ],
    "SECRET.CONNECTION_STRING": [
        "postgresql://app:Tr1ckle@db.example:5432/app",
        "连接串mongodb+srv://root:quokka@cluster0.example/?w=1",
        "redis://:quokka77@cache.example:6379/0",
        "https://rosa:quokka@example.com/private",
        "Server=tcp:db.example,1433;Initial Catalog=x;User ID=sa;Password=Qu0kka!;",
        "curl -u rosa:quokka77 https://example.com",
        "sshpass -p quokka77 ssh rosa@host",
    ],
    "SECRET.PASSWORD": [
        "my password is quokka-77",
        "My password is quokka.",
        "the wifi password at the cabin is Quokka77",
        "password for the router is still admin1234",
        "I changed my password to Xy7!kkq9 yesterday",
        "Password: quokka",
        "passwd: Quokka!",
        'password = "correct quokka battery"',
        "PASSWORD=quokka&user=rosa",
        "pwd=quokka77",
        "DB_PASSWORD: quokka",
        '{"password": "quokka77"}',
        "login rosa, password Quokka!77",
        "with password 'QuokkaSummer25'",
        "passphrase: quokkas-jump-high",
        "my debit card PIN is 4821",
        "rosa@harbour.example / Qu0kka!Bay",
        "密码是quokka77",
        "我的密码：Quokka77",
        "wifi密码12345678",
        "登录密码改成了 quokka99",
        "支付密码现在是482913",
        "口令为opensesame",
        "ｐａｓｓｗｏｒｄ：ｑｕｏｋｋａ７７",
        "p\u200bass\u00adword is quokka-77",
        "pаsswоrd is quokka-77",
    ],
}

SECRETS["SECRET.TOKEN"] += [
    f"the wifi key is {ALNUM[:14]}",
    f"gateway v3 key: {ALNUM[:32]}",
    "recovery codes: 8d2f-77qa, 91kk-2mz0",
    "备用码：4821 9930, 1175 3320",
]
SECRETS["SECRET.RECOVERY_PHRASE"] = [
    "seed phrase: ribbon lunar copper meadow violin anchor puzzle timber orbit walnut cactus ember",
    "助记词：ribbon lunar copper meadow violin anchor puzzle timber orbit walnut cactus ember",
    " ".join(["wallet mnemonic\n", *(f"{at}. {word}\n" for at, word in enumerate(WORDS, 1))]),
]

PLAIN = [
    f"public key is {ALNUM[:32]}, cache key = {ALNUM[:16]}",
    "the recovery phrase should be written down with a pencil and kept where only family finds it",
    "recovery codes are in the safe, backup codes: none left",
    "seed words for the game: ribbon, lunar, copper",
    "our password policy changed",
    "I forgot my password again",
    "my password is too weak",
    "the password is required",
    "the password must be 8-16 characters",
    "password is at least 12 characters long",
    "password: string",
    "password: str = Field(min_length=8)",
    "password: ${DB_PASSWORD}",
    "password: {{ vault_password }}",
    "password: <your password>",
    "password=os.environ['DB']",
    "password = get_password()",
    "password=********",
    "user.password = form.password",
    "if password == confirm_password:",
    "passwords are bcrypt-hashed",
    "passwords: hashed with argon2id",
    "password: click the link below to choose one",
    "the password is kept in the safe",
    "password reset link: https://example.com/reset",
    "I keep my passwords in 1Password",
    "the password is: forgotten",
    "bypass: enabled; compass: north; passing: well",
    "密码忘了",
    "请定期更换密码",
    "密码是8-16位字符",
    "密码长度不少于8位",
    "密码错误3次后锁定",
    "密码2024年到期",
    "密码学课程用AES-256",
    "公钥和私钥有什么区别",
    "他把密码告诉了我",
    "the token budget is 4096 tokens",
    "access token expiry is 3600 seconds",
    "the secret to good bread is patience",
    "API keys are rotated every 90 days",
    "private key cryptography is old",
    "a key-value store, a key-note speech, the monkey-bars",
    "JWTs begin with eyJ",
    "http://localhost:8700/v1/memories and https://example.com:443/@rosa",
    "postgres://app:${PGPASSWORD}@db/app, mysql://user:<password>@host/x",
    "keys that begin with -----BEGIN PRIVATE KEY----- are never to be committed to it",
    'the line "-----BEGIN PRIVATE KEY-----" starts one',
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIE",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2f rosa@pier",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "trace 018f9c1e-7b1d-7a2c-9e55-0a1b2c3d4e5f",
    "internationalization-and-localization-of-everything",
    "write to rosa@harbour.example, mei@yuanfang.example; or call",
    "password: [REDACTED]; card [CREDIT_CARD ****4505]",
    "Basic understanding, bearer of bad news",
    "the pin is on the map, Pinterest pins, pin 12",
]


@pytest.mark.requirement("D3")
@pytest.mark.parametrize(
    ("kind", "text"), [(kind, text) for kind, texts in SECRETS.items() for text in texts]
)
def test_a_secret_is_seen(kind, text):
    assert kind in {finding.kind for finding in find_secrets(normalise(text), RULES)}


@pytest.mark.requirement("D3")
@pytest.mark.parametrize("split", sorted(set(secrets_by_split()) - {UNTOUCHED_SPLIT}))
def test_ninety_five_in_a_hundred_random_secrets_of_every_split_are_seen(split):
    texts = secrets_by_split()[split]
    seen = [text for text in texts if find_secrets(normalise(text), RULES)]
    assert len(seen) >= 0.95 * len(texts)


@pytest.mark.requirement("D3")
@pytest.mark.parametrize("name", HARMLESS)
def test_two_in_a_hundred_harmless_texts_at_most_are_taken_for_a_secret(name):
    taken = [text for text in HARMLESS[name] if find_secrets(normalise(text), RULES)]
    assert len(taken) <= 0.02 * len(HARMLESS[name])


@pytest.mark.parametrize("text", PLAIN)
def test_talk_is_no_secret(text):
    assert find_secrets(normalise(text), RULES) == ()


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_seen_through_encodings(kind):
    text = SECRETS[kind][0]
    data = text.encode()
    for dressed in (
        base64.b64encode(data).decode(),
        data.hex(),
        "".join(f"%{byte:02x}" for byte in data),
        "".join(f"&#{ord(char)};" for char in text),
        base64.b64encode(base64.b64encode(data)).decode(),
        json.dumps(json.dumps(text)),
        "\u200b".join(text),
        "\x1b[1m".join(text),
        "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text),
    ):
        found = find_secrets(normalise(dressed), RULES)
        assert kind in {finding.kind for finding in found}, dressed[:60]


def test_the_span_is_the_value_in_the_original():
    text = "so, my pass\u200bword is ｑｕｏｋｋａ-77, ok"
    (finding,) = find_secrets(normalise(text), RULES)
    assert text[finding.start : finding.end].startswith("ｑｕｏｋｋａ-77")
    assert "quokka" not in repr(finding)


def test_an_armoured_key_reaches_to_its_end():
    text = f"before\n-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}\n-----END PRIVATE KEY-----\nafter"
    spans = [(f.start, f.end) for f in find_secrets(normalise(text), RULES)]
    assert text[min(spans)[0] : max(end for _, end in spans)] == text[7:-6]


def test_a_value_that_two_rules_see_has_the_name_of_the_vendors_own():
    (finding,) = find_secrets(normalise("the api key is AKIAQ3EGR7HX2B5KZ4TW"), RULES)
    assert (finding.kind, finding.rule) == ("SECRET.CLOUD_KEY", "aws-access-key-id")


def test_a_rule_that_runs_out_of_time_refuses():
    slow = parse_secret_rules(
        """
version: "t"
plain: ["weak"]
placeholders: ["x{3,9}"]
rules:
  - {id: slow, kind: SECRET.TOKEN, pattern: "(?:a{1,60}){1,60}!", keywords: ["aaaa"]}
"""
    )
    with pytest.raises(ScanTimeout):
        find_secrets(normalise("a" * 60), slow)


def test_time_that_is_used_up_refuses():
    clock = iter([0.0, *([1.0] * 100)])
    with pytest.raises(ScanTimeout):
        find_secrets(normalise("password: quokka"), RULES, timer=lambda: next(clock))


def test_entropy_is_shannons():
    assert entropy_bits("") == 0
    assert entropy_bits("aaaa") == 0
    assert entropy_bits("abcd") == 2
