"""Still more vendors and habits without a rule of their own, for the secrets of `guard_secrets`.

Rules this module keeps:
- Written down after the general rules were widened by the seventh split, and committed before it
  was run the first time; docs/guard.md says what was seen at that first sight.
- Shapes are spelled as there.
"""

EIGHTH = (
    *("CHARGEBEE_SITE_KEY={a32}", "recurly private key: {h32}", "paddle vendor auth code {h50}"),
    *("fastspring api password {a22}", "chargify shared key is {a32}", "zuora client secret={a40}"),
    *("klarna api password: {a16}", "bigcommerce access token {l31}", "woocommerce cs_{h40}"),
    *("magento integration secret {l32}", "prestashop ws key {u32}", "ecwid secret_{a32}"),
    *("twitch stream key live_{d9}_{a30}", "youtube stream key: {l4}-{l4}-{l4}-{l4}-{l4}"),
    *("agora app certificate {h32}", "livekit secret is {a44}", "daily.co api key {h64}"),
    *("assemblyai key {h32}", "speechmatics token: {a32}", "runwayml key_{h128}"),
    *("together api key: {h64}", "fireworks key fw_{a24}", "groq token gsk_{a52}"),
    *("qdrant cloud key {a22}-{a30}", "milvus password is {a14}", "zilliz token {h64}{h16}"),
    *("neo4j aura password: {a43}", "couchbase pw {a12}!{d1}", "influx admin token {b86}=="),
    *("timescale password = {l16}", "planetscale pscale_pw_{a43}", "turso auth token {a60}"),
    *(
        "meilisearch master key {a32}",
        "typesense admin api key: {a32}",
        "elastic cloud key {b48}==",
    ),
    *(
        "terraform cloud team token {a14}.atlasv1.{a67}",
        "pulumi pul-{h40}",
        "spacelift secret {a64}",
    ),
    *("bitrise token: {a86}", "codemagic api token {a43}", "semaphore token is {a20}"),
    *("appcenter user token {h40}", "testflight key id and secret: {a40}", "expo token {a40}"),
    *("sentry auth token: {h64}", "datadog app key {h40}", "newrelic user key NRAK-{u27}"),
    *("'api_secret': '{a36}'", "secretKey: '{b40}'", '"privateToken" : "{a26}"'),
    *("const PASS = '{a10}!{d2}';", 'DB_PASS="{a12}#{d1}"', "define('AUTH_KEY', '{a48}');"),
    *(
        "MAIL_PASSWORD={l16}",
        "REDIS_URL=redis://:{a20}@cache:6379/0",
        "AMQP_URL=amqp://u:{a12}@mq/",
    ),
    *("Authorization: Basic {b32}==", "X-Vault-Token: s.{a24}", "x-functions-key: {b53}=="),
    *("https://api.example/v1/data?apikey={a28}", "wss://feed.example/?access_token={a40}"),
    *("sftp -P 22 deploy:{a11}!@files.example", "postgresql://rosa:{a13}@db/prod?sslmode=require"),
    *(
        "my linkedin password is {a10}{d1}!",
        "instagram pw: {a9}_{d3}",
        "the paypal password is now {a12}",
    ),
    *("rosa's spotify login: rosa@pier.example / {a8}!{d2}", "work laptop password: {a10}?{d1}"),
    *(
        "old gmail password was {a9}{d2}",
        "the router's admin password is {a8}{d1}",
        "zoom passcode: {d6}",
    ),
    *(
        "visa card pin is {d4}",
        "the safe's code is {d6}",
        "shed padlock combination {d1}-{d2}-{d2}",
    ),
    *("alarm code for the office: {d4}", "my phone unlock code is {d6}", "gate code is {d4}#"),
    *("ssh key passphrase: {a14}", "gpg passphrase is {a16}", "keystore pass {a10}{d2}"),
    *("智谱 api key：{h32}.{a16}", "通义千问 sk-{h32}", "文心一言 Secret Key {a32}"),
    *("月之暗面 key 是 sk-{a48}", "个推 masterSecret：{a22}", "融云 App Secret {a14}"),
    *("友盟 AppMasterSecret={l32}", "网易云信 secret: {h12}", "声网证书 {h32}"),
    *("支付密码：{d6}", "我的微信密码是{a9}{d1}", "服务器root密码：{a12}"),
    *("银行卡密码{d6}", "家里门锁密码是{d6}", "公司邮箱密码 {a8}{d2}", "登录口令为{a10}"),
    *(
        "backup codes: {l8} {l8} {l8} {l8}",
        "totp secret {u32}",
        "recovery key is {a4}-{a4}-{a4}-{a4}",
    ),
)
"""Noted eighth."""
