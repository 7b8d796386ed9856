"""The latest vendors and habits without a rule of their own, for the secrets of `guard_secrets`.

Rules this module keeps:
- Written down after the general rules were widened by the eighth split, and committed before it was
  run the first time; docs/guard.md says what was seen at that first sight.
- Shapes are spelled as there.
"""

NINTH = (
    *("gusto client secret {a43}", "rippling api token: {a40}", "bamboohr key is {h40}"),
    *("greenhouse harvest key: {h32}-{d1}", "lever api key {a48}", "workable token: {h64}"),
    *("docusign integration secret {h8}-{h4}-{h4}-{h4}-{h12}", "hellosign api key {h64}"),
    *("box developer token: {a32}", "egnyte oauth token {l24}", "onedrive refresh token 0.A{a70}"),
    *(
        "evernote dev token S=s1:U={h5}:E={h11}:C={h11}:P=1cd:A=en:V=2:H={h32}",
        "coda token {h8}-{a30}",
    ),
    *("raindrop test token: {h8}-{h4}-{h4}-{h4}-{h12}", "pocket consumer key {d5}-{h24}"),
    *("foursquare client secret {u48}", "yelp fusion key {a70}", "here maps apikey={a43}"),
    *(
        "tomtom key {a32}",
        "stormglass key: {h8}-{h4}-{h4}-{h4}-{h12}-{h8}",
        "accuweather apikey {a32}",
    ),
    *("aviationstack access_key={h32}", "amadeus api secret {a16}", "duffel_live_{a43}"),
    *(
        "polygon.io key {a32}",
        "finnhub token {l20}",
        "alpaca secret key: {a40}",
        "tiingo token {h40}",
    ),
    *(
        "coinmarketcap key {h8}-{h4}-{h4}-{h4}-{h12}",
        "okx passphrase: {a10}!",
        "gemini api secret {a28}",
    ),
    *(
        "matrix access token syt_{a12}_{a20}_{a6}",
        "mastodon token: {a43}",
        "bluesky app password {l4}-{l4}-{l4}-{l4}",
    ),
    *("reddit client secret is {a27}", "tiktok client secret: {a32}", "snap oauth secret {h20}"),
    *("line channel secret: {h32}", "kakao admin key {h32}", "viber auth token {h16}-{h16}-{h16}"),
    *("signal backup passphrase {d5} {d5} {d5} {d5} {d5} {d5}", "whatsapp two-step pin: {d6}"),
    *(
        "threema id backup password {a12}{d2}",
        "protonmail mailbox password: {a14}",
        "tutanota pw {a11}{d2}",
    ),
    *('secret_access_key: "{b40}"', "access_key_secret => '{a30}'", 'clientSecret: "{a24}~{a9}"'),
    *(
        "<secretKey>{a40}</secretKey>",
        '<property name="password" value="{a10}{d2}"/>',
        "<pwd>{a9}{d2}</pwd>",
    ),
    *("self.api_key = '{a32}'", "headers['X-Api-Key'] = '{a32}'", "os.environ['TOKEN'] = '{a40}'"),
    *("--set auth.password={a12}", "-e MYSQL_PASSWORD={a14}", "--build-arg NPM_TOKEN={a36}"),
    *(
        "basic auth rosa:{a10}{d2}",
        "curl -u rosa:{a11}{d1} https://api.example",
        "wget --password={a10}{d2} x",
    ),
    *(
        "mongodb+srv://app:{a15}@c0.example/db",
        "redis-cli -a {a16}",
        "amqps://svc:{a18}@mq.example",
    ),
    *(
        "my netflix password: {a9}{d1}",
        "the amazon password is {a10}{d2}!",
        "facebook pass {a9}{d3}",
    ),
    *(
        "her work password is {a11}{d1}",
        "password for the tax portal: {a10}#{d2}",
        "pw for hotel booking {a9}{d2}",
    ),
    *("bank card pin: {d4}", "the gate code is {d5}", "building code for the front door is {d4}"),
    *("safe combination: {d2}-{d2}-{d2}", "garage door pin {d4}", "storage unit code {d6}#"),
    *(
        "my wifi password is {l10}",
        "hotspot password: {l8}",
        "router pin {d8}",
        "office wifi key {a14}",
    ),
    *("讯飞 APISecret：{a32}", "百川 key sk-{h32}", "阿里云 AccessKey Secret {a30}"),
    *("飞书 app_secret {a32}", "腾讯云 SecretKey：{a32}", "七牛 sk={a40}", "高德key {h32}"),
    *("支付宝密码是{a8}{d2}", "电脑密码：{a9}{d1}", "微信支付密码 {d6}", "门禁密码{d6}#"),
    *("无线密码是{l10}", "管理员口令：{a10}{d1}", "数据库口令={a14}", "保险柜密码 {d6}"),
)
"""Noted ninth."""
