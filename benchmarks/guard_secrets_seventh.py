"""Yet more vendors and habits without a rule of their own, for the secrets of `guard_secrets`.

Rules this module keeps:
- Written down after the general rules were widened by the sixth split, and committed before it was
  run the first time; docs/guard.md says what was seen at that first sight.
- Shapes are spelled as there.
"""

SEVENTH = (
    *("knock.app signing key: {b60}", "workos api key is {a48}", "svix auth token {a40}"),
    *("PROPELAUTH_API_KEY={h64}{h64}", "descope management key K2{a40}", "fusionauth key: {a56}"),
    *(
        "novu secret {h32}",
        "courier auth token: pk_prod_{u28}",
        "postmark server token {h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    *("sparkpost key {h40}", "smtp2go api-{u32}", "mailjet secret key is {h32}"),
    *(
        "zoho refresh_token 1000.{h32}.{h32}",
        "quickbooks client secret {a40}",
        "xero secret: {a48}",
    ),
    *(
        "gocardless access token live_{a40}",
        "mollie live_{a30}",
        "wise token {h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    *("binance api secret {a64}", "bybit secret: {a36}", "infura project secret {h32}"),
    *(
        "alchemy key: {a32}",
        "etherscan api key {u34}",
        "moralis key eyJhbGciOiJIUzI1NiJ9.{a60}.{a43}",
    ),
    *("tmdb api key is {h32}", "spotify client secret = {h32}", "last.fm shared secret: {h32}"),
    *("strava refresh token {h40}", "fitbit client secret: {h32}", "garmin consumer secret {a35}"),
    *(
        "home assistant long-lived token eyJ0eXAi{a20}.{a60}.{a43}",
        "hue bridge username token {a40}",
    ),
    *("tuya local key: {a16}", "mqtt password: {a12}", "zigbee network key {h32}"),
    *(
        "sonarr apikey {h32}",
        "plex token: {a20}",
        "jellyfin api key is {h32}",
        "nextcloud app password {a5}-{a5}-{a5}-{a5}-{a5}",
    ),
    *(
        "synology admin pw: {a11}",
        "unifi controller login rosa / {a10}!{d1}",
        "pihole password is {a9}",
    ),
    *("export GH_ENTERPRISE_TOKEN={a40}", "TF_VAR_db_password={a16}", "ANSIBLE_BECOME_PASS={a12}"),
    *("vercel env add STRIPE_SECRET {a32}", "heroku config:set SECRET_KEY_BASE={h64}{h64}"),
    *(
        "fly secrets set SESSION_KEY={a44}",
        "gh secret set NPM --body {a36}",
        "doppler secrets set JWT={b43}",
    ),
    *("rclone obscured pass = {a30}", "restic password: {a20}", 'borg passphrase "{a18}"'),
    *(
        "duplicati passphrase {a16}{d2}",
        "veracrypt password is {a16}",
        "luks key phrase: {l7} {l6} {l8} {d4}",
    ),
    *(
        "bitlocker recovery key {d6}-{d6}-{d6}-{d6}-{d6}-{d6}-{d6}-{d6}",
        "filevault recovery key {u4}-{u4}-{u4}-{u4}-{u4}-{u4}",
    ),
    *("esim activation code LPA:1$smdp.example${u16}", "windows key {u5}-{u5}-{u5}-{u5}-{u5}"),
    *(
        "steam guard code {u5}",
        "battle.net authenticator restore code {u10}",
        "xbox gift code {u5}-{u5}-{u5}-{u5}-{u5}",
    ),
    *(
        "the alarm's off with {d4} then #",
        "lockbox by the back door: {d4}",
        "the padlock opens with {d3}-{d3}",
    ),
    *("our door opens with {d4}*", "parking barrier code {d5}", "front door: {d4} + key symbol"),
    *("debit card PIN ends up being {d4}", "my pin number's {d4}", "apple watch passcode {d6}"),
    *(
        "password hint aside, it's {a10}!{d1}",
        "pw -> {a11}",
        'pass: "{l6} {l7} {l5}"',
        "PW={a9}{d1}",
    ),
    *('wifi "Harbour" / {a12}', "guest wifi: {l8}{d3}", "ssid Pier5G key {a14}", "WPA2: {a16}"),
    *(
        "钉钉机器人加签密钥 SEC{h64}",
        "腾讯地图key：{u5}-{u5}-{u5}-{u5}-{u5}-{u5}",
        "快手 app_secret={a22}",
    ),
    *("小红书开放平台 secret {h32}", "有道智云应用密钥：{a32}", "金山云 AccessKeySecret {b43}="),
    *("银行卡取款密码{d6}", "单元门密码{d4}#", "快递柜开箱码{d6}", "电脑开机口令：{l8}"),
    *("室友的网盘提取密码 {l4}", "wifi：harbour，密码：{l8}", "保险箱 左{d2}右{d2}左{d2} 密码{d6}"),
    *(
        "Zugangscode für die Garage: {d4}",
        "clave del wifi: {a12}",
        "code d'entrée : {d4}A",
        "senha do wifi é {a10}{d1}",
    ),
)
"""Noted seventh."""
