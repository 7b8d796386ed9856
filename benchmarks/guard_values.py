"""Made-up values of every kind of identifier, with right check digits.

Rules this module keeps:
- Check digits are worked out here, not by the recognizers' own code; nobody's data is in it.
- Each function takes a seeded generator and returns one value as it is printed.
"""

# ruff: noqa: D103 - each makes one value of the kind it is named for
import random
import string
from datetime import date, timedelta

Rng = random.Random

_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_PLATE = "ABCDEFGHJKLMNPQRSTUVWXYZ"


def digits(rng: Rng, count: int, first: str = "123456789") -> str:
    return rng.choice(first) + "".join(rng.choices(string.digits, k=count - 1))


def _weighted(number: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))


def _luhn(number: str) -> str:
    """Return the check digit that `number` lacks."""
    total = 0
    for at, digit in enumerate(reversed(number)):
        value = int(digit) * (2 if at % 2 == 0 else 1)
        total += value - 9 * (value > 9)  # noqa: PLR2004 - two digits
    return str(-total % 10)


def day(rng: Rng) -> date:
    return date(1945, 1, 1) + timedelta(days=rng.randrange(22_000))


def another_end(rng: Rng, value: str) -> str:
    """Break a check by changing the last letter or digit."""
    at = max(place for place, sign in enumerate(value) if sign.isalnum())
    signs = string.digits if value[at].isdigit() else string.ascii_uppercase
    return (
        value[:at]
        + rng.choice([sign for sign in signs if sign != value[at].upper()])
        + value[at + 1 :]
    )


def resident_id(
    rng: Rng, regions: tuple[str, ...] = ("110105", "310104", "440305", "510107", "330106")
) -> str:
    number = rng.choice(regions) + f"{day(rng):%Y%m%d}" + f"{rng.randrange(1000):03d}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    return number + "10X98765432"[_weighted(number, weights) % 11]


def permit_of_residence(rng: Rng) -> str:
    return resident_id(rng, ("810000", "820000", "830000"))


def card(rng: Rng) -> str:
    prefix, length = rng.choice(
        (
            ("4", 16),
            ("51", 16),
            ("53", 16),
            ("37", 15),
            ("6222", 19),
            ("6217", 19),
            ("6258", 16),
            ("6011", 16),
            ("3566", 16),
        )
    )
    body = prefix + "".join(rng.choices(string.digits, k=length - len(prefix) - 1))
    return body + _luhn(body)


def iban(rng: Rng) -> str:
    country, shape = rng.choice(
        (
            ("DE", "n" * 18),
            ("GB", "aaaa" + "n" * 14),
            ("FR", "n" * 23),
            ("ES", "n" * 20),
            ("NL", "aaaa" + "n" * 10),
            ("CH", "n" * 17),
        )
    )
    body = "".join(
        rng.choice(string.ascii_uppercase if sign == "a" else string.digits) for sign in shape
    )
    number = int("".join(str(int(sign, 36)) for sign in body + country + "00"))
    return f"{country}{98 - number % 97:02d}{body}"


def spoilt_iban(rng: Rng, value: str) -> str:
    return value[:2] + f"{(int(value[2:4]) + rng.randrange(1, 90)) % 97 + 1:02d}" + value[4:]


def social_credit(rng: Rng) -> str:
    signs = "0123456789ABCDEFGHJKLMNPQRTUWXY"
    body = (
        "9"
        + rng.choice("123")
        + rng.choice(("110105", "310104", "440305"))
        + "".join(rng.choices(signs, k=9))
    )
    total = sum(signs.index(sign) * pow(3, at, 31) for at, sign in enumerate(body))
    return body + signs[-total % 31]


def hk_id(rng: Rng) -> str:
    letters = rng.choice("ABCDEGHKMPRVYZ")
    number = f"{rng.randrange(1_000_000):06d}"
    total = 36 * 9 + int(letters, 36) * 8 + _weighted(number, (7, 6, 5, 4, 3, 2))
    check = -total % 11
    return f"{letters}{number}({'A' if check == 10 else check})"  # noqa: PLR2004 - the letter's value


def spoilt_hk_id(rng: Rng, value: str) -> str:
    return value[:-2] + rng.choice([sign for sign in "0123456789A" if sign != value[-2]]) + ")"


def tw_id(rng: Rng) -> str:
    letters = "ABCDEFGHJKLMNPQRSTUVXYWZIO"
    letter = rng.choice(letters)
    region = letters.index(letter) + 10
    number = rng.choice("12") + f"{rng.randrange(10_000_000):07d}"
    total = region // 10 + region % 10 * 9 + _weighted(number, (8, 7, 6, 5, 4, 3, 2, 1))
    return letter + number + str(-total % 10)


def plate(rng: Rng) -> str:
    head = rng.choice(_PROVINCES) + rng.choice(_PLATE)
    if rng.random() < 0.4:  # noqa: PLR2004 - a share
        tail = (
            rng.choice("DF")
            + rng.choice(_PLATE + string.digits)
            + "".join(rng.choices(string.digits, k=4))
        )
    else:
        signs = rng.choices(_PLATE + string.digits, k=5)
        signs[rng.randrange(5)] = rng.choice(string.digits)
        tail = "".join(signs)
    return head + rng.choice(("", "", "·")) + tail


def mobile(rng: Rng) -> str:
    return "1" + rng.choice("3456789") + "".join(rng.choices(string.digits, k=9))


def phone(rng: Rng) -> str:
    return rng.choice(
        (
            lambda: (
                f"({rng.randrange(201, 990)}) {rng.randrange(200, 999)}-{rng.randrange(10_000):04d}"
            ),
            lambda: (
                f"+1 {rng.choice((212, 312, 415, 617, 702))} "
                f"{rng.randrange(200, 999)} {rng.randrange(10_000):04d}"
            ),
            lambda: (
                f"{rng.randrange(201, 990)}-{rng.randrange(200, 999)}-{rng.randrange(10_000):04d}"
            ),
            lambda: f"+44 7{rng.randrange(400, 600)} {rng.randrange(1_000_000):06d}",
            lambda: f"+49 151 {rng.randrange(10_000_000, 99_999_999)}",
            lambda: (
                f"+86 1{rng.choice('3589')}{rng.randrange(10)} "
                f"{rng.randrange(10_000):04d} {rng.randrange(10_000):04d}"
            ),
        )
    )()


def landline(rng: Rng) -> str:
    return rng.choice(("010", "021", "0755", "0571")) + "-" + digits(rng, 8, "2345678")


def mail(rng: Rng) -> str:
    name = "".join(rng.choices(string.ascii_lowercase, k=rng.randrange(3, 9)))
    return (
        f"{name}{rng.choice(('', '.', '_', '+'))}{rng.randrange(1, 99)}@"
        f"{rng.choice(('mail', 'post', 'work'))}-{rng.randrange(99)}."
        f"{rng.choice(('example', 'org', 'com.cn', 'io'))}"
    )


def ssn(rng: Rng) -> str:
    return (
        f"{rng.choice((rng.randrange(1, 666), rng.randrange(667, 900))):03d}-"
        f"{rng.randrange(1, 100):02d}-{rng.randrange(1, 10_000):04d}"
    )


def passport(rng: Rng) -> str:
    return (rng.choice(("E", "G", "E" + rng.choice(_PLATE))) + digits(rng, 8))[:9]


def home_return(rng: Rng) -> str:
    return rng.choice("HM") + digits(rng, rng.choice((8, 10)))


_DIHEDRAL = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 2, 3, 4, 0, 6, 7, 8, 9, 5],
    [2, 3, 4, 0, 1, 7, 8, 9, 5, 6],
    [3, 4, 0, 1, 2, 8, 9, 5, 6, 7],
    [4, 0, 1, 2, 3, 9, 5, 6, 7, 8],
    [5, 9, 8, 7, 6, 0, 4, 3, 2, 1],
    [6, 5, 9, 8, 7, 1, 0, 4, 3, 2],
    [7, 6, 5, 9, 8, 2, 1, 0, 4, 3],
    [8, 7, 6, 5, 9, 3, 2, 1, 0, 4],
    [9, 8, 7, 6, 5, 4, 3, 2, 1, 0],
]
_PERMUTED = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    [1, 5, 7, 6, 2, 8, 3, 0, 9, 4],
    [5, 8, 0, 3, 7, 9, 6, 1, 4, 2],
    [8, 9, 1, 6, 0, 4, 3, 5, 2, 7],
    [9, 4, 5, 3, 1, 2, 6, 8, 7, 0],
    [4, 2, 8, 6, 5, 7, 3, 9, 0, 1],
    [2, 7, 9, 3, 8, 0, 6, 4, 1, 5],
    [7, 0, 4, 6, 9, 1, 3, 2, 5, 8],
]


def _verhoeff(number: str) -> str:
    check = 0
    for at, digit in enumerate(reversed(number), 1):
        check = _DIHEDRAL[check][_PERMUTED[at % 8][int(digit)]]
    return str(_DIHEDRAL[check].index(0))


def aadhaar(rng: Rng) -> str:
    body = digits(rng, 11, "23456789")
    number = body + _verhoeff(body)
    return rng.choice((number, f"{number[:4]} {number[4:8]} {number[8:]}"))


def nino(rng: Rng) -> str:
    head = rng.choice(("AB", "CE", "JG", "PW", "SR", "YZ", "HL"))
    body = f"{rng.randrange(1_000_000):06d}"
    return rng.choice(
        (
            f"{head}{body}{rng.choice('ABCD')}",
            f"{head} {body[:2]} {body[2:4]} {body[4:]} {rng.choice('ABCD')}",
        )
    )


def nhs(rng: Rng) -> str:
    while True:
        body = digits(rng, 9)
        check = 11 - _weighted(body, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
        if check != 10:  # noqa: PLR2004 - never issued
            return body + str(check % 11)


def sin(rng: Rng) -> str:
    body = digits(rng, 8, "1234567")
    number = body + _luhn(body)
    return f"{number[:3]} {number[3:6]} {number[6:]}"


def tfn(rng: Rng) -> str:
    while True:
        body = digits(rng, 8)
        for last in string.digits:
            if _weighted(body + last, (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0:
                return f"{body[:3]} {body[3:6]} {body[6:]}{last}"


def abn(rng: Rng) -> str:
    body = digits(rng, 9)
    total = _weighted(body, (3, 5, 7, 9, 11, 13, 15, 17, 19))
    check = 89 - total % 89
    return f"{check + 10:02d} {body[:3]} {body[3:6]} {body[6:]}"


def acn(rng: Rng) -> str:
    body = digits(rng, 8)
    return body + str(-_weighted(body, (8, 7, 6, 5, 4, 3, 2, 1)) % 10)


def pan(rng: Rng) -> str:
    letters = string.ascii_uppercase
    return (
        "".join(rng.choices(letters, k=3))
        + rng.choice("PCHFATBLJG")
        + rng.choice(letters)
        + f"{rng.randrange(1, 10_000):04d}"
        + rng.choice(letters)
    )


def dni(rng: Rng) -> str:
    number = rng.randrange(10_000_000, 99_999_999)
    return f"{number}{'TRWAGMYFPDXBNJZSQVHLCKE'[number % 23]}"


def pesel(rng: Rng) -> str:
    born = day(rng)
    month = born.month + (20 if born.year >= 2000 else 0)  # noqa: PLR2004 - a century
    body = f"{born:%y}{month:02d}{born:%d}{rng.randrange(10_000):04d}"
    return body + str(-_weighted(body, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10)


def german_tax_id(rng: Rng) -> str:
    while True:
        signs = rng.sample(string.digits, 9)
        signs.append(rng.choice(signs))
        rng.shuffle(signs)
        if signs[0] != "0":
            break
    product = 10
    for sign in signs:
        total = (int(sign) + product) % 10 or 10
        product = total * 2 % 11
    return "".join(signs) + str((11 - product) % 10)


def nric(rng: Rng) -> str:
    head = rng.choice("STFG")
    body = f"{rng.randrange(10_000_000):07d}"
    total = _weighted(body, (2, 7, 6, 5, 4, 3, 2)) + (4 if head in "TG" else 0)
    return head + body + ("JZIHGFEDCBA" if head in "ST" else "XWUTRQPNMLK")[total % 11]


def hetu(rng: Rng) -> str:
    born = day(rng)
    running = f"{rng.randrange(2, 900):03d}"
    sign = "A" if born.year >= 2000 else "-"  # noqa: PLR2004 - a century
    return (
        f"{born:%d%m%y}{sign}{running}"
        + "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(f"{born:%d%m%y}{running}") % 31]
    )


def personnummer(rng: Rng) -> str:
    body = f"{day(rng):%y%m%d}{rng.randrange(1000):03d}"
    return f"{body[:6]}-{body[6:]}{_luhn(body)}"


def rrn(rng: Rng) -> str:
    return f"{day(rng):%y%m%d}-{rng.choice('12')}{rng.randrange(1_000_000):06d}"


def my_number(rng: Rng) -> str:
    body = digits(rng, 11)
    rest = _weighted(body, (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return body + str(0 if rest <= 1 else 11 - rest)


def cpf(rng: Rng) -> str:
    body = digits(rng, 9)
    for start in (10, 11):
        rest = _weighted(body, tuple(range(start, 1, -1))) % 11
        body += str(0 if rest < 2 else 11 - rest)  # noqa: PLR2004 - the rule's own
    return rng.choice((body, f"{body[:3]}.{body[3:6]}.{body[6:9]}-{body[9:]}"))


def nir(rng: Rng) -> str:
    body = (
        f"{rng.choice('12')}{rng.randrange(100):02d}{rng.randrange(1, 13):02d}"
        f"{rng.randrange(1, 96):02d}{rng.randrange(1, 999):03d}{rng.randrange(1, 999):03d}"
    )
    return body + f"{97 - int(body) % 97:02d}"


def bsn(rng: Rng) -> str:
    while True:
        body = digits(rng, 8)
        check = _weighted(body, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
        if check < 10:  # noqa: PLR2004 - never issued
            return body + str(check)


def tckn(rng: Rng) -> str:
    body = digits(rng, 9)
    tenth = (_weighted(body, (7, -1) * 5)) % 10
    body += str(tenth)
    return body + str(sum(map(int, body)) % 10)


def npi(rng: Rng) -> str:
    body = digits(rng, 9, "12")
    return body + _luhn("80840" + body)


def imei(rng: Rng) -> str:
    body = "35" + digits(rng, 12)
    return body + _luhn(body)


def mac(rng: Rng) -> str:
    return rng.choice(":-").join(f"{rng.randrange(256):02{rng.choice('xX')}}" for _ in range(6))


def v4(rng: Rng) -> str:
    return ".".join(str(rng.randrange(128, 250)) for _ in range(4))


def itin(rng: Rng) -> str:
    return (
        f"9{rng.randrange(100):02d}-{rng.choice((50, 64, 70, 85, 91, 97))}-"
        f"{rng.randrange(10_000):04d}"
    )


def account(rng: Rng) -> str:
    return digits(rng, rng.choice((9, 10, 11, 12)))


def qq(rng: Rng) -> str:
    return digits(rng, rng.choice((6, 8, 9, 10)))


def licence(rng: Rng) -> str:
    return rng.choice(string.ascii_uppercase) + digits(rng, rng.choice((7, 8, 12)))


def wechat(rng: Rng) -> str:
    return (
        "".join(rng.choices(string.ascii_lowercase, k=rng.randrange(5, 8)))
        + rng.choice(("_", "-", ""))
        + f"{rng.randrange(10, 999)}"
    )
