"""Notes and lines of code that speak of secrets and hold none.

Values that look random (hashes, ids, images) come from a seeded generator.
"""

import random

from benchmarks.guard_secrets import fill

_SHAPES = (
    *("commit {h40} fixes the parser", "git checkout {h7} && git cherry-pick {h40}"),
    *("{h8}-{h4}-4{h3}-a{h3}-{h12}", "request_id={h8}-{h4}-4{h3}-b{h3}-{h12} status=200"),
    *("trace_id: {h32}, span_id: {h16}", 'etag: W/"{h32}"', "Content-MD5: {b22}=="),
    *("sha256:{h64}  dist/app.tar.gz", "md5sum: {h32}  image.iso", 'checksum = "{h64}"'),
    *(
        '"integrity": "sha512-{b86}=="',
        "--hash=sha256:{h64} \\",
        'version = "1.4.2"\nhash = "{h64}"',
    ),
    *("FROM python@sha256:{h64}", "image: registry.example/app@sha256:{h64}"),
    *("data:image/png;base64,iVBORw0KGgo{b120}", "url(data:font/woff2;base64,d09GMg{b90})"),
    *(
        "src: 'data:image/svg+xml;base64,PHN2Zy{b60}'",
        '<img src="data:image/gif;base64,R0lGOD{b44}">',
    ),
    *(
        "background: #{h6}; color: #{h3};",
        ".btn-{a6} { margin: 0 auto }",
        "--shadow: 0 1px 2px #{h8};",
    ),
    *(
        "https://cdn.example/assets/index-{a8}.js",
        "https://shop.example/p/{d9}?ref=mail&utm_id={d6}",
    ),
    *("https://video.example/watch?v={a11}&t=42s", "https://docs.example/d/{a44}/edit"),
    *("https://git.example/org/repo/blob/{h40}/src/main.rs#L10-L24", "https://s.example/{a7}"),
    *("/var/lib/docker/overlay2/{h64}/merged", "C:\\Users\\rosa\\AppData\\{h8}.tmp"),
    *("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{b43} rosa@pier", "ssh-rsa AAAAB3NzaC1yc2E{b120}"),
    *("-----BEGIN CERTIFICATE-----\nMII{b60}", "-----BEGIN PUBLIC KEY-----\nMII{b60}"),
    *("fingerprint SHA256:{b43}", "public key: {b43}=", "publishable key pk_test_{a24}"),
    *("order_id = 'cus_{a14}'", "payment intent pi_{a24} succeeded", "thread_{a24} run_{a24}"),
    *("ObjectId('{h24}')", "_id: {h24}", "user {h24} logged in", "snowflake id {d18}"),
    *("ARN arn:aws:iam::{d12}:role/deploy", "i-0{h17} is running", "vpc-0{h17} subnet-0{h17}"),
    *("zone id {h32}", "account id: {h32}", "project-id: harbour-{d6}", "cluster {h8} node {h8}"),
    *(
        "const KEY_{u4} = 'user.settings.theme';",
        'static final String TOKEN_TYPE = "bearer"; // {d3}',
    ),
    *(
        "val token = tokenProvider.next() // see #{d4}",
        "let key = map.keys().next().unwrap(); // {d2}",
    ),
    *('fmt.Printf("token expires in %d", {d4})', "max_tokens: {d4}, top_k: {d2}"),
    *(
        "num_tokens = {d6}",
        "tokens_used: {d5}, cost: 0.0{d2}",
        "secret_version: {d2}",
        "key_length = {d4}",
    ),
    *("password_min_length = 1{d1}", "PASSWORD_RESET_TIMEOUT = {d5}", "passwordAttempts: {d1}"),
    *(
        "SELECT key, value FROM settings WHERE id = {d5};",
        "CREATE INDEX key_{d3} ON t (token_hash);",
    ),
    *("GRANT SELECT ON t TO app; -- ticket {d5}", "ALTER TABLE users ADD token_id bigint; -- {d4}"),
    *("<key>CFBundleVersion</key><string>{d4}</string>", '<token type="id">{d4}</token>'),
    *("token=$(cat /run/secrets/token) # {d3}", 'export API_KEY="$(pass show api/{d2})"'),
    *(
        "password: !vault |  # see {d3}",
        'password: "{{ vault_db_{d2} }}"',
        "secretName: tls-{a5}",
    ),
    *(
        "existingSecret: db-{d3}",
        "key: ${{ hashFiles('**/lock-{d2}') }}",
        "cache-key: v{d1}-deps-{h8}",
    ),
    *("def rotate_keys(n={d2}): pass", "fn verify(token: &str) -> bool { token.len() == {d2} }"),
    *(
        "public record Token(string Value, int Line = {d3});",
        "type Key{d1} = keyof typeof settings;",
    ),
    *(
        "func (k *Key) Bytes() []byte { return k.b[:{d2}] }",
        "private var apiKey: String? = null // {d3}",
    ),
    *(
        "password = input('Password {d1}: ')",
        "pwd=$(pwd)/build-{d3}",
        "pass  # pragma: no cover {d3}",
    ),
    *("if password != confirm_password { return {d3} }", "assert token.kind == 'IDENT_{d2}'"),
    *("docker run -p {d4}:{d4} -e TZ=UTC app", "mysql -p -u root < dump-{d8}.sql", "ps -p {d5}"),
    *(
        'curl -u "$USER:$TOKEN" https://api.example/v{d1}',
        'curl -H "Authorization: Bearer $T{d1}" x',
    ),
    *(
        "nonce = {d8}",
        "seed = {d10}",
        "random_state={d4}",
        "salt_rounds = 1{d1}",
        "signature: (x: int{d2}) -> str",
    ),
    *("Cookie: theme=dark; lang=en-{u2}", "Set-Cookie: visited=1; Max-Age={d6}; Path=/"),
    *("otp length {d1}", "license: MIT-{d1}", "serial number {u4}-{d6}", "part no. {u3}-{d4}-{u2}"),
    *("ISBN 978-0-{d3}-{d5}-{d1}", "DOI 10.{d4}/{a8}", "RFC {d4}, section {d1}.{d1}"),
    *("v{d1}.{d2}.{d1}-rc.{d1}+build.{d4}", "Chrome/1{d2}.0.{d4}.{d2} Safari/5{d2}.36"),
    *("coordinates 51.{d6}, 4.{d6}", "epoch 17{d8}", "2026-0{d1}-1{d1}T0{d1}:1{d1}:2{d1}Z"),
)
"""Lines of code, of logs and of lock files, with what looks random in them and opens nothing."""

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
    ]
    + [
        *("The key takeaway is that 3 of 4 teams shipped", "Promo code SAVE20 ends on Friday"),
        *("My flight code is KL1234, gate B22", "Row 14, seat 7C, boarding at 09:40"),
        *("the dress code for the garage party is black", "zip code 97301, area code 503"),
        *("the building code of 2019 asks for 2 exits", "error code 0x80070005 again"),
        *("The secret is to add 200 g of butter", "Secret Santa budget: 25 euros"),
        *("password for the wifi? ask Wenna", "I changed the password to something longer"),
        *("passwords are kept in the vault of the team", "the PIN pad at the door is broken"),
        *("pin the meeting to Tuesday 10:30", "The token of thanks was a mug"),
        *("tokens: 1200 in, 350 out", "the license of the library is Apache-2.0"),
        *("licence plate of the rental ends in 88", "Her session is at 14:00 in room 4.12"),
        *("cookie recipe: 180 degrees, 12 minutes", "The API returns 401 when the key is missing"),
        *("OAuth flow: code, then token, then refresh", "rotate the signing keys every 90 days"),
        *("we store only a hash of the password", "the seed round closed at 3.2 million"),
        *("seed the tomatoes in March, 2 cm deep", "salt 5 g, pepper 2 g"),
        *("the code for the parser is in src/parse2.rs", "the combination of A and B works"),
        *("the code for room booking is on GitHub", "access code review starts at 9:00"),
        *("the lock on version 2.4 was lifted", "the safe limit is 250 mg a day"),
        *("credentials: see the handbook, page 12", "login at 8:00, logout at 17:30"),
        *("username and password are both required", "她的密码本是红色的，第3页"),
        *("密码长度至少12位", "验证码收不到，等了5分钟", "令牌桶每秒100个", "密钥每90天轮换一次"),
        *("口令红包领了8.88元", "激活码在邮件里", "门禁卡丢了，补办20元", "她说暗号是对的"),
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
        "token: ${ secrets.GITHUB_TOKEN }",
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
    ]
    + [fill(shape, random.Random(f"{shape} {number}")) for shape in _SHAPES for number in range(3)],
}
"""Texts that a rule may not take for a secret."""
