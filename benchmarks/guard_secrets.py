"""Made-up secrets, and texts that only look like some: what the rules for secrets are measured on.

Rules this module keeps:
- Values are random, from a seeded generator, in the shapes that vendors and the public rules of
  gitleaks and detect-secrets describe; none opens anything.
- Two splits: `seen` has a rule of its own in policies/secrets.yaml; `unseen` are vendors without
  one, which only the general rules (a name beside a random value) can see.
"""

import base64
import random
import string
from collections.abc import Callable, Sequence

Rng = random.Random

_ALNUM = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits
_HEX = "0123456789abcdef"


def _of(signs: str, count: int) -> Callable[[Rng], str]:
    return lambda rng: "".join(rng.choices(signs, k=count))


def _fill(shape: str, rng: Rng) -> str:
    """Replace `{a20}`, `{h32}`, `{l8}`, `{u16}`, `{d6}` by random signs of that class and count."""
    out, at = [], 0
    classes = {
        "a": _ALNUM,
        "h": _HEX,
        "l": _LOWER,
        "u": string.ascii_uppercase + string.digits,
        "d": string.digits,
        "b": _ALNUM + "+/",
    }
    while at < len(shape):
        if shape[at] == "{" and shape[at + 1] in classes and shape[at + 2].isdigit():
            end = shape.index("}", at)
            out.append(_of(classes[shape[at + 1]], int(shape[at + 2 : end]))(rng))
            at = end + 1
        else:
            out.append(shape[at])
            at += 1
    return "".join(out)


SEEN = (
    "AKIA{u16}",
    "aws_secret_access_key={a40}",
    "AIza{a35}",
    "GOCSPX-{a28}",
    "ghp_{a36}",
    "gho_{a36}",
    "github_pat_{a22}_{a59}",
    "glpat-{a20}",
    "xoxb-{d12}-{d12}-{a24}",
    "xoxp-{d12}-{d12}-{d12}-{h32}",
    "https://hooks.slack.com/services/T{u8}/B{u8}/{a24}",
    "sk_live_{a24}",
    "rk_live_{a24}",
    "whsec_{a32}",
    "sk-{a48}",
    "sk-ant-api03-{a93}AA",
    "npm_{a36}",
    "pypi-AgEIcHlwaS5vcmc{a70}",
    "hf_{a34}",
    "SK{h32}",
    "SG.{a22}.{a43}",
    "key-{h32}",
    "{h32}-us12",
    "{d9}:AA{a33}",
    "shpat_{h32}",
    "sq0atp-{a22}",
    "lin_api_{a40}",
    "secret_{a43}",
    "figd_{a40}",
    "PMAK-{h24}-{h34}",
    "dop_v1_{h64}",
    "glsa_{a32}_{h8}",
    "NRAK-{u27}",
    "dt0c01.{u24}.{u64}",
    "pul-{h40}",
    "dp.pt.{a43}",
    "hvs.{a90}",
    "dapi{h32}",
    "LTAI{a20}",
    "AKID{a32}",
    "AGE-SECRET-KEY-1{u58}",
    "rubygems_{h48}",
    "dckr_pat_{a27}",
    "tskey-auth-{a16}-{a20}",
    "-----BEGIN RSA PRIVATE KEY-----\n{b64}\n{b64}\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\n{b70}\n-----END OPENSSH PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ{a20}In0.{a43}",
    "postgres://app:{a16}@db.internal:5432/main",
    "mongodb+srv://root:{a12}@c0.example/x",
    "redis://:{a14}@cache:6379/1",
    "amqp://u:{a10}@mq/",
    "Server=db;Database=x;User Id=sa;Password={a12};",
    "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={b86}==",
    "Authorization: Bearer {a40}",
    "X-API-Key: {a32}",
    "curl -u admin:{a12} https://x.example",
    "password: {a10}",
    "my password is {a9}!",
    "PASSWORD={a12}",
    "passphrase: {l5}-{l6}-{d3}",
    "密码是{a10}",
    "密码：{a8}",
    "登录口令为{l8}",
    "wifi密码{d8}",
    "api key: {a32}",
    'client_secret = "{a32}"',
    "access token is {h40}",
    "密钥：{a24}",
    "my PIN is {d4}",
)
"""Shapes with a rule of their own."""

UNSEEN = (
    'adafruit_api_key = "{l32}"',
    "ADOBE_CLIENT_SECRET=p8e-{h32}",
    "airtable_api_key: {a17}",
    "algolia_api_key = '{l32}'",
    "asana_client_secret: {a32}",
    "ATLASSIAN_API_TOKEN={a24}",
    'bitbucket_client_secret="{a64}"',
    "bittrex_secret_key={l32}",
    "codecov_access_token: {a32}",
    "coinbase_access_token = {a64}",
    "confluent_secret_key = {a64}",
    'contentful_delivery_api_token: "{a43}"',
    "datadog_api_key={h32}",
    "DD_APP_KEY={h40}",
    "discord_client_secret = {a32}",
    "droneci_access_token: {a32}",
    "dropbox_api_secret = {l15}",
    "etsy_access_token={a24}",
    "facebook_app_secret: {h32}",
    "fastly_api_token = {a32}",
    "finicity_client_secret={a20}",
    "freshbooks_access_token: {h64}",
    "gitter_access_token = {a40}",
    'hashicorp_tf_password = "{a18}"',
    "heroku_api_key: {h8}-{h4}-{h4}-{h4}-{h12}",
    "hubspot_api_key = {h8}-{h4}-{h4}-{h4}-{h12}",
    "intercom_api_key={a60}",
    "jfrog_api_key: {a73}",
    "kraken_access_token={b80}==",
    "kucoin_secret_key: {h8}-{h4}-{h4}-{h4}-{h12}",
    "launchdarkly_access_token = {a40}",
    "linkedin_client_secret={a16}",
    "lob_api_key: live_{h35}",
    "looker_client_secret = {l24}",
    "mailgun_signing_key={h32}-{h8}-{h8}",
    "mapbox_api_token: pk.{a60}.{a22}",
    "mattermost_access_token={l26}",
    "messagebird_api_token = {a25}",
    "netlify_access_token: {a43}",
    "nytimes_access_token={a32}",
    "okta_access_token: 00{a40}",
    "plaid_secret_key = {a30}",
    "rapidapi_access_token={a50}",
    "sendbird_access_token: {h40}",
    "snyk_token = {h8}-{h4}-{h4}-{h4}-{h12}",
    "sonar_login_token={a40}",
    "squarespace_access_token: {h8}-{h4}-{h4}-{h4}-{h12}",
    "sumologic_access_token={a64}",
    "telegram_bot_secret: {a35}",
    "travisci_access_token = {a22}",
    "twitch_api_token={a30}",
    "twitter_api_secret: {a50}",
    "typeform_api_token = tfp_{a59}",
    "yandex_api_key=AQVN{a36}",
    "zendesk_secret_key: {a40}",
    "vercel_token = {a24}",
    "supabase_service_key: {a60}",
    "circleci_token={h40}",
    "buildkite_token: bkua_{h40}",
    "snowflake_password = {a14}",
    "ELASTIC_PASSWORD={a20}",
    "stytch_secret: secret-test-{a36}=",
    "clerk secret key sk_test_{a40}",
    "deepl auth key: {h8}-{h4}-{h4}-{h4}-{h12}:fx",
    "wechat pay api v3 key: {a32}",
    "支付商户密钥{a32}",
    "企业微信 secret: {a43}",
    "高德地图api key：{h32}",
    "百度云 secret key是{h32}",
    "encryption key = {h64}",
    "signing secret: {h64}",
    "session secret is {b44}",
    "master key: {b43}=",
    "recovery code: {l5}-{l5}-{l5}-{l5}",
    "backup codes: {d4} {d4}, {d4} {d4}, {d4} {d4}",
    "2fa secret: {u32}",
    "the wifi key is {a12}",
    "vpn pre-shared key: {a24}",
    "root pw: {a10}",
    "her passcode is {d6}",
)
"""Vendors and habits without a rule of their own."""

# The first words of the English list of BIP 39.
_LISTED = (
    "abandon ability able about above absent absorb abstract absurd abuse access accident "
    "account accuse achieve acid acoustic acquire across act action actor actress actual adapt "
    "add addict address adjust admit adult advance advice aerobic affair afford afraid again "
    "age agent agree ahead aim air airport aisle alarm album alcohol alert alien all alley "
    "allow almost alone alpha already also alter always amateur amazing among amount amused "
    "analyst anchor ancient anger angle angry animal ankle announce annual another answer "
    "antenna antique anxiety any apart apology appear apple approve april arch arctic area "
    "arena argue arm armed armor army around arrange arrest arrive arrow art artefact artist "
    "artwork ask aspect assault asset assist assume asthma athlete atom attack attend attitude "
    "attract auction audit august aunt author auto autumn average avocado avoid awake aware "
    "away awesome awful awkward axis"
)
_SEED_WORDS = _LISTED.split()

_FRAMES = (
    "{secret}",
    "please remember: {secret}",
    "In .env we have\n{secret}\nfor staging.",
    "记一下 {secret} 谢谢",
)


def _phrases(rng: Rng, count: int) -> list[str]:
    return [
        rng.choice(
            (
                "my seed phrase: {words}",
                "recovery phrase is {words}",
                "助记词：{words}",
                "wallet mnemonic\n{words}",
            )
        ).replace("{words}", " ".join(rng.sample(_SEED_WORDS, rng.choice((12, 24)))))
        for _ in range(count)
    ]


def _dressed(rng: Rng, texts: Sequence[str]) -> list[str]:
    out = []
    for text in texts:
        data = text.encode()
        out.append(
            rng.choice(
                (
                    lambda data=data: base64.b64encode(data).decode(),
                    lambda data=data: base64.b64encode(base64.b64encode(data)).decode(),
                    lambda data=data: data.hex(),
                    lambda data=data: "".join(f"%{byte:02X}" for byte in data),
                    lambda text=text: "".join(f"&#{ord(sign)};" for sign in text),
                    lambda text=text: "\u200b".join(text),
                    lambda text=text: "".join(
                        chr(ord(s) + 0xFEE0) if "!" <= s <= "~" else s for s in text
                    ),
                )
            )()
        )
    return out


def secrets_by_split(seed: int = 7, each: int = 6) -> dict[str, list[str]]:
    """Return texts with one secret each, by split.

    Args:
        seed: the same one gives the same texts.
        each: texts for each shape.
    """
    rng = random.Random(seed)
    made = {
        name: [
            rng.choice(_FRAMES).replace("{secret}", _fill(shape, rng))
            for shape in shapes
            for _ in range(each)
        ]
        for name, shapes in (("rules' own", SEEN), ("kinds without a rule", UNSEEN))
    }
    made["recovery phrases"] = _phrases(rng, 60)
    made["rules' own, encoded once or twice"] = _dressed(rng, made["rules' own"])
    return made


HARMLESS = {
    "notes": [
        f"{who} {what} {when}"
        for who in ("She", "My brother", "The landlord", "Our team", "他", "我的同事")
        for what in (
            "asked me to change the password policy",
            "lost the key to the cellar",
            "keeps tokens for the tram in a jar",
            "read about private keys and certificates",
            "is the secret author of the column",
            "pinned a map on the wall",
            "moved the meeting on access control",
            "passed the exam with 92 points",
            "says the code review took 3 hours",
            "bought 2 tickets, row 14, seats 7-8",
            "likes tea more than coffee",
            "forgot the passphrase again",
            "忘记了密码，要重新设置",
            "在学密码学",
            "说钥匙在门口的花盆下面",
            "订了下周三的会议室",
            "喜欢听爵士乐",
            "的令牌环网课讲得很好",
        )
        for when in ("yesterday.", "in March 2024", "，昨天。")
    ],
    "code": [
        (
            "def check(password: str) -> bool:\n    return hmac.compare_digest(digest(password), "
            "stored)"
        ),
        "const token = await getToken({ audience });",
        'api_key = os.environ["API_KEY"]',
        "export const SECRET_KEY = process.env.SECRET_KEY;",
        "password = getpass.getpass()",
        "if (!user.password) throw new Error('no password');",
        "SELECT password_hash FROM users WHERE id = $1;",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "ssh-keygen -t ed25519 -C rosa@pier",
        "kubectl create secret generic db --from-file=./password.txt",
        "secretKeyRef:\n  name: db\n  key: password",
        "assert response.headers['authorization'] is None",
        '<input type="password" name="password" autocomplete="current-password">',
        "class TokenBucket:\n    def __init__(self, rate: float) -> None: ...",
        "import secrets\nkey = secrets.token_urlsafe(32)",
        "git commit -m 'auth: rotate keys' # 4bc23c4",
        "uuid = '018f9c1e-7b1d-7a2c-9e55-0a1b2c3d4e5f'",
        'integrity="sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K"',
        "hash: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "x.password = form.password.data",
        "logger.info('token refreshed for %s', user.id)",
        "max_tokens=4096, temperature=0.7",
        'primary_key=True, foreign_key="users.id"',
        "keyboard.on('keypress', handler)",
        "passwordField.setVisible(false)",
        "CREATE USER app WITH PASSWORD :'app_password';",
        "def test_wrong_password_is_refused(client): ...",
        "docker run -e POSTGRES_PASSWORD=$PGPASSWORD postgres:16",
        "<Key>Enter</Key>",
        "cache_key = f'{tenant}:{user}:{version}'",
        "rsa.generate_private_key(public_exponent=65537, key_size=2048)",
        "apiKey: string;",
        "token?: string | null;",
        "type Credentials = { username: string; password: string };",
        "it('shows the password strength meter')",
        "auth: { type: 'oauth2', flow: 'authorizationCode' }",
        "headers: { Authorization: `Bearer ${token}` }",
        "password=<your-password>",
        "API_KEY=your_api_key_here",
        "SECRET_KEY=changeme # in .env.example",
        "vault kv get -field=password secret/db",
        "openssl rand -base64 32",
        "sha256sum dist/*.whl",
        "pip install --require-hashes -r requirements.lock",
    ],
}
"""Texts that a rule may not take for a secret."""
