"""Made-up secrets: what the rules for secrets are measured on.

Rules this module keeps:
- Values are random, from a seeded generator, in the shapes that vendors and the public rules of
  gitleaks and detect-secrets describe; none opens anything.
- `SEEN` has a rule of its own in policies/secrets.yaml. The other splits are vendors and habits
  without one, which only the general rules (a name beside a random value) can see.
- Each of those was written down when the rules were thought final, and was run before any rule was
  changed for it: docs/guard.md says what was seen at first sight.
"""

import base64
import random
import string
from collections.abc import Callable, Sequence

from benchmarks.guard_secrets_eighth import EIGHTH
from benchmarks.guard_secrets_ninth import NINTH
from benchmarks.guard_secrets_seventh import SEVENTH
from benchmarks.guard_secrets_sixth import SIXTH

Rng = random.Random

_ALNUM = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits
_HEX = "0123456789abcdef"


def _of(signs: str, count: int) -> Callable[[Rng], str]:
    return lambda rng: "".join(rng.choices(signs, k=count))


def fill(shape: str, rng: Rng) -> str:
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

LATER = (
    *(
        "render_api_key: rnd_{a28}",
        "POSTHOG_PROJECT_TOKEN=phc_{a43}",
        "resend api key re_{a8}_{a24}",
    ),
    *("pinecone_api_key = pcsk_{a6}_{a64}", "weaviate admin key: {a36}", "COHERE_API_KEY={a40}"),
    *("mistral api key is {a32}", "ELEVENLABS_API_KEY=sk_{h48}", "replicate token r8_{a37}"),
    *("tailwind license key: {u8}-{u8}", "segment write key = {a32}", "MIXPANEL_SECRET={h32}"),
    *("amplitude_secret_key: {h32}", "branch_secret = secret_live_{a32}", "razorpay secret: {a24}"),
    *("paypal_client_secret={a80}", "braintree_private_key = {h32}", "adyen api key: AQE{b80}="),
    *("plivo auth token {a40}", "vonage api secret is {a16}", "nexmo_secret: {a16}"),
    *(
        "cloudinary://{d15}:{a27}@demo",
        "ftp://deploy:{a12}@files.example",
        "ldap bind password: {a14}",
    ),
    *("ansible vault pass: {a16}", "keystore.password={a12}", "spring.datasource.password: {a12}"),
    *(
        "the alarm code is {d6}",
        "gate code: {d4}#",
        "sim pin is {d4}",
        "steam guard secret: {b28}=",
    ),
    *(
        "萤石云 accessToken：{a32}",
        "极光推送 master secret {h24}",
        "短信平台密钥={a24}",
        "解锁密码改成{d6}",
    ),
    *(
        "网银登录密码 {a10}",
        "路由器管理密码为{a9}",
        "保险柜密码是{d6}",
        "邮箱授权码：{l16}",
        "微信支付密码{d6}",
    ),
)
"""Written down after the first rules; 87 % were seen, and two general rules came from the rest."""

LAST = (
    *("unsplash_access_key: {a43}", "OPENWEATHER_API_KEY={h32}", "deepgram api key {h40}"),
    *("pusher_app_secret = {h20}", "mux token secret: {a75}", "FIREBASE_TOKEN=1//0{a60}"),
    *("ngrok authtoken {a49}", "stability api key: sk-{a48}", "lemonsqueezy signing secret {a32}"),
    *("wandb login key: {h40}", "comet_api_key = {a25}", "clearbit secret api key is sk_{h32}"),
    *(
        "bugsnag_api_key: {h32}",
        "rollbar post server item token {h32}",
        "loggly customer token: {h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    *(
        "SMTP_PASSWORD={a18}",
        "imap password is {a12}",
        "nas admin password: {a11}",
        "jdbc:mysql://h/d?user=a&password={a13}",
    ),
    *(
        "MYSQL_ROOT_PASSWORD: {a16}",
        "pgpass: db:5432:app:u:{a16}",
        "rsync password={a10}",
        "htpasswd admin:$apr1${a8}${a22}",
    ),
    *(
        "locker combination is {d2}-{d2}-{d2}",
        "bike lock code: {d4}",
        "my apple id password is {a11}!",
        "her email password: {a10}",
    ),
    *(
        "阿里云短信 secret：{a30}",
        "数据库密码为{a12}",
        "苹果账号密码：{a10}",
        "门锁密码{d6}",
        "公司vpn口令是{a9}",
        "小程序appsecret是{h32}",
    ),
)
"""Written down after that; 93 % were seen, and one rule was widened to bare hex after "token"."""

FOURTH = (
    *("harvest_access_token: {d7}.pt.{a40}", "calendly token is {a60}", "TODOIST_API_TOKEN={h40}"),
    *("trello api secret: {h64}", "clickup token pk_{d8}_{u32}", "monday api token: {a80}"),
    *("pipedrive_api_token={h40}", "klaviyo private key pk_{h34}", "customerio app key: {h32}"),
    *("appsflyer dev key is {a22}", "onesignal rest api key: {a48}", "maxmind_license_key={a16}"),
    *(
        "hetzner api token {a64}",
        "linode token: {h64}",
        "scaleway secret key {h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    *("ovh consumer key: {a32}", "backblaze applicationKey: K00{a28}", "wasabi secret key = {a40}"),
    *("cassandra password: {a12}", "rabbitmq pass = {a14}", "minio root password is {a16}"),
    *(
        "router login admin / {a9}7!",
        "ssh passphrase: {l6} {l5} {d3}",
        "keepass master password is {a12}",
    ),
    *("京东云 secret key：{a32}", "飞书机器人 app secret: {a32}", "七牛云 SecretKey={a40}"),
    *("后台管理员密码是{a10}", "校园网密码：{a8}", "我的锁屏密码是{d6}"),
)
"""Written down after that; 85 % were seen, and the rules for values beside a name were widened."""

FIFTH = (
    *(
        "toggl api token: {h32}",
        "shortcut token is {h8}-{h4}-{h4}-{h4}-{h12}",
        "FRESHDESK_API_KEY={a20}",
    ),
    *("zoom client secret: {a32}", "miro access token eyJ{a60}", "webflow token {h64}"),
    *(
        "activecampaign key: {h72}",
        "sendinblue_api_key = xsmtpsib-{h64}",
        "iterable api key is {h32}",
    ),
    *(
        "adjust app secret: {d10}",
        "braze rest key: {h8}-{h4}-{h4}-{h4}-{h12}",
        "geoip license key {a16}",
    ),
    *(
        "vultr api key: {u36}",
        "upcloud password: {a14}",
        "dreamhost key is {u16}",
        "gandi pat: {h40}",
    ),
    *("cockroach password {a16}9!", "influx token: {b86}==", "nats creds password={a22}"),
    *(
        "my bank pin is {d4}",
        "garage code is {d5}",
        "laptop password: {l7}{d2}",
        "icloud pw is {a10}",
    ),
    *(
        "字节跳动 app secret {h32}",
        "讯飞开放平台apikey:{h32}",
        "又拍云操作员密码是{a12}",
        "支付宝登录密码：{a11}",
    ),
    *("家里wifi密码 {l8}", "行李箱密码是{d3}7", "VPN 预共享密钥为{a20}"),
)
"""Written down after that; 87 % were seen, and rules for where any value stands came of it."""

UNTOUCHED_SPLIT = "kinds noted last"
"""A figure to publish and not a gate."""

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
            rng.choice(_FRAMES).replace("{secret}", fill(shape, rng))
            for shape in shapes
            for _ in range(each)
        ]
        for name, shapes in (
            ("rules' own", SEEN),
            ("kinds without a rule", UNSEEN),
            ("kinds noted later", LATER),
            ("kinds noted third", LAST),
            ("kinds noted fourth", FOURTH),
            ("kinds noted fifth", FIFTH),
            ("kinds noted sixth", SIXTH),
            ("kinds noted seventh", SEVENTH),
            ("kinds noted eighth", EIGHTH),
            (UNTOUCHED_SPLIT, NINTH),
        )
    }
    made["recovery phrases"] = _phrases(rng, 60)
    made["rules' own, encoded once or twice"] = _dressed(rng, made["rules' own"])
    return made
