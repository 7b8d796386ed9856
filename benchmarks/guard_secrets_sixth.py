"""More vendors and habits without a rule of their own, for the secrets of `guard_secrets`.

Rules this module keeps:
- Written down when the rules were thought final, and committed before it was run the first time;
  docs/guard.md says what was seen at that first sight.
- Shapes are spelled as there: `{a20}` is twenty random letters and digits, `{h32}` hexadecimal,
  `{l8}` small letters and digits, `{u16}` capitals and digits, `{d6}` digits.
"""

SIXTH = (
    *("LOGTAIL_SOURCE_TOKEN={a24}", "axiom ingest token xaat-{h8}-{h4}-{h4}-{h4}-{h12}"),
    *("honeycomb api key: {a22}", "opsgenie integration key is {h8}-{h4}-{h4}-{h4}-{h12}"),
    *("PAGERDUTY_ROUTING_SECRET = {h32}", "victorops rest endpoint key {h8}-{h4}-{h4}-{h4}-{h12}"),
    *("our Contentstack management token: cs{h32}", "sanity write token sk{a80}"),
    *(
        "STRAPI_ADMIN_JWT_SECRET={b43}=",
        "ghost admin key {h24}:{h64}",
        "directus static token {a32}",
    ),
    *("bunny.net storage password: {h8}-{h4}-{h4}-{h12}-{h4}-{h4}", "imgix_token={a16}"),
    *("cloudsmith entitlement {a16}", "jfrog reference token cmVmdGtu{a43}"),
    *("nuget push key oy2{l43}", "hex.pm key: {h32}", "clojars deploy token CLOJARS_{h60}"),
    *("pdm publish --username __token__ --password {a40}", "cargo login {a35}"),
    *("ngrok config add-authtoken {a27}_{a21}", "tailscale up --authkey {a20}{d5}"),
    *("wg PrivateKey = {b43}=", 'psk="{a14}" in wpa_supplicant', "openvpn auth line: rosa\n{a16}"),
    *("snmp community string {a10}{d2}", "radius shared secret {a18}", 'ipsec PSK "{a24}"'),
    *("kubectl config set-credentials ci --token={a60}", "kubeadm join --token {l6}.{l16}"),
    *(
        "docker swarm join --token SWMTKN-1-{l50}-{l25}",
        "consul acl token {h8}-{h4}-{h4}-{h4}-{h12}",
    ),
    *("rancher bearer token-{l5}:{l54}", "argocd admin initial password is {a16}"),
    *("jenkins api token 11{h32}", "teamcity access eyJ0eXAiOiAiVENWMiJ9.{a36}.{a48}"),
    *('{"auths": {"reg.example": {"auth": "{b60}"}}}', "npmrc _authToken={a36}"),
    *("spring.security.user.password={a12}", "hibernate.connection.password {a12}9"),
    *('<add key="ApiSecret" value="{a32}" />', "<password>{a11}!</password>"),
    *("'password' => '{a13}',", "config[:api_token] = '{a24}'", 'apiKey := "{a28}"'),
    *('val secretKey = "{a40}"', 'let token: String = "{a40}".into();', "static $pwd = '{a12}';"),
    *(
        "rosa@pier.example:{a10}{d2}",
        "admin / {a9}!{d2} for the NAS",
        "log in as ops with {a9}#{d2}",
    ),
    *("Her Netflix login is rosa@pier.example, password {a9}{d1}", "Disney+ pass: {a10}"),
    *(
        "the code to the holiday flat's key safe is {d4}",
        "gym locker 44, combination {d2}-{d2}-{d2}",
    ),
    *("garage keypad {d4}#, then green", "phone unlock pattern pin {d6}", "voicemail pin {d4}"),
    *("burglar alarm: {d4} to disarm", "SIM card PUK {d8}", "car radio code {d4}"),
    *(
        "telephone banking password: {l9}",
        "bank security word is {l9}{d1}",
        "TAN list {d6} {d6} {d6}",
    ),
    *("my crypto exchange 2FA backup is {u16}", "ledger pin {d8}", "seed backup password {a14}"),
    *("学校教务系统密码 {a9}", "公积金查询密码是{d6}", "WiFi名harbour 密码{l10}"),
    *("抖音开放平台 client_secret {h32}", "美团 appSecret：{h32}", "拼多多client_secret={h40}"),
    *("火山引擎 AK: AKLT{b40} SK: {b56}==", "天翼云 sk 是 {h32}", "UCloud 私钥 {a40}"),
    *("电子钥匙口令：{d8}", "门口智能锁密码{d6}井号", "后台口令 {a10}{d1}"),
    *("パスワードは{a10}です", "비밀번호는 {a10}", "el código de la alarma es {d4}"),
    *("mot de passe : {a10}{d1}", "Passwort: {a10}{d2}", "hasło do poczty to {a9}{d2}"),
)
"""Noted sixth."""
