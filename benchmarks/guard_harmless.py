"""Notes and lines of code that speak of secrets and hold none."""

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
