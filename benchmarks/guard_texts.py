"""Made-up notes with personal data in them, and near misses: what the guard is measured on.

Rules this module keeps:
- Values are those of `benchmarks/guard_values.py`, from a seeded generator.
- Nothing is shared with the recognizers' fixtures (tests/pii/recognizers), sentences included.
- A decoy looks like its kind and is none: a wrong check digit, an order's number, a time, a hash.
"""

import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benchmarks import guard_values as values
from benchmarks.guard_values import Rng

_NUMERALS = str.maketrans("0123456789", "零一二三四五六七八九")
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A text, and the one value in it; `start == end` in a decoy."""

    kind: str
    language: str
    dress: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Kind:
    """How values of one kind are made.

    Args:
        make: a true value, as it is printed.
        spoil: the same with its check broken; None where the kind has no check.
        said: what it is called, English and Chinese.
        group: the gate of requirement D1 it stands under.
        named: whether it is told only beside its name.
    """

    name: str
    make: Callable[[Rng], str]
    said: tuple[str, str]
    group: str
    spoil: Callable[[Rng, str], str] | None = None
    named: bool = True


CHECKED, MOBILE, NAMED, SHAPED = (
    "checksum",
    "mobile, plate, permit, phone",
    "told by a name",
    "shape",
)

KINDS = (
    Kind(
        "CN_RESIDENT_ID",
        values.resident_id,
        ("Chinese id", "身份证号"),
        CHECKED,
        values.another_end,
        named=False,
    ),
    Kind(
        "CN_RESIDENT_ID",
        values.permit_of_residence,
        ("residence permit", "居住证号"),
        CHECKED,
        values.another_end,
        named=False,
    ),
    Kind("CREDIT_CARD", values.card, ("card", "银行卡"), CHECKED, values.another_end, named=False),
    Kind("IBAN_CODE", values.iban, ("IBAN", "国际账号"), CHECKED, values.spoilt_iban, named=False),
    Kind(
        "CN_SOCIAL_CREDIT_CODE",
        values.social_credit,
        ("credit code", "统一社会信用代码"),
        CHECKED,
        values.another_end,
        named=False,
    ),
    Kind("HK_ID", values.hk_id, ("HKID", "香港身份证"), CHECKED, values.spoilt_hk_id, named=False),
    Kind(
        "TW_ID", values.tw_id, ("Taiwan id", "身分證字號"), CHECKED, values.another_end, named=False
    ),
    Kind("IN_AADHAAR", values.aadhaar, ("Aadhaar", "Aadhaar"), CHECKED, values.another_end),
    Kind("UK_NHS", values.nhs, ("NHS number", "NHS号码"), CHECKED, values.another_end),
    Kind("CA_SIN", values.sin, ("SIN", "加拿大SIN"), CHECKED, values.another_end),
    Kind("AU_TFN", values.tfn, ("TFN", "澳洲TFN"), CHECKED, values.another_end),
    Kind("AU_ABN", values.abn, ("ABN", "澳洲ABN"), CHECKED, values.another_end),
    Kind("AU_ACN", values.acn, ("ACN", "澳洲ACN"), CHECKED, values.another_end),
    Kind("ES_NIF", values.dni, ("DNI", "西班牙DNI"), CHECKED, values.another_end, named=False),
    Kind("PL_PESEL", values.pesel, ("PESEL", "波兰PESEL"), CHECKED, values.another_end),
    Kind(
        "DE_TAX_ID",
        values.german_tax_id,
        ("Steuer-ID", "德国Steuer-ID"),
        CHECKED,
        values.another_end,
    ),
    Kind(
        "SG_NRIC_FIN", values.nric, ("NRIC", "新加坡NRIC"), CHECKED, values.another_end, named=False
    ),
    Kind(
        "FI_PERSONAL_IDENTITY_CODE",
        values.hetu,
        ("henkilötunnus", "芬兰hetu"),
        CHECKED,
        values.another_end,
        named=False,
    ),
    Kind(
        "SE_PERSONNUMMER",
        values.personnummer,
        ("personnummer", "瑞典personnummer"),
        CHECKED,
        values.another_end,
    ),
    Kind(
        "JP_MY_NUMBER", values.my_number, ("My Number", "マイナンバー"), CHECKED, values.another_end
    ),
    Kind("BR_CPF", values.cpf, ("CPF", "巴西CPF"), CHECKED, values.another_end),
    Kind("FR_NIR", values.nir, ("NIR", "法国NIR"), CHECKED, values.another_end, named=False),
    Kind("NL_BSN", values.bsn, ("BSN", "荷兰BSN"), CHECKED, values.another_end),
    Kind("TR_NATIONAL_ID", values.tckn, ("TC kimlik", "土耳其kimlik"), CHECKED, values.another_end),
    Kind("US_NPI", values.npi, ("NPI", "NPI"), CHECKED, values.another_end),
    Kind("IMEI", values.imei, ("IMEI", "手机串号IMEI"), CHECKED, values.another_end),
    Kind("PHONE_NUMBER", values.mobile, ("mobile", "手机"), MOBILE, named=False),
    Kind("PHONE_NUMBER", values.phone, ("phone", "电话"), MOBILE, named=False),
    Kind("PHONE_NUMBER", values.landline, ("landline", "座机"), MOBILE, named=False),
    Kind("CN_LICENSE_PLATE", values.plate, ("licence plate", "车牌"), MOBILE, named=False),
    Kind("CN_TRAVEL_PERMIT", values.home_return, ("home return permit", "回乡证"), MOBILE),
    Kind("PASSPORT", values.passport, ("passport", "护照"), MOBILE),
    Kind("EMAIL_ADDRESS", values.mail, ("email", "邮箱"), SHAPED, named=False),
    Kind("US_SSN", values.ssn, ("SSN", "社会安全号码"), SHAPED, named=False),
    Kind("US_ITIN", values.itin, ("ITIN", "ITIN"), SHAPED, named=False),
    Kind("IP_ADDRESS", values.v4, ("host", "服务器地址"), SHAPED, named=False),
    Kind("MAC_ADDRESS", values.mac, ("MAC", "物理地址"), SHAPED, named=False),
    Kind("UK_NINO", values.nino, ("NI number", "英国NI number"), SHAPED, named=False),
    Kind("IN_PAN", values.pan, ("PAN", "印度PAN"), SHAPED, named=False),
    Kind("KR_RRN", values.rrn, ("RRN", "韩国居民登记号"), SHAPED, named=False),
    Kind("BANK_ACCOUNT", values.account, ("bank account", "收款账号"), NAMED),
    Kind("DRIVER_LICENSE", values.licence, ("driver's license", "驾照"), NAMED),
    Kind("WECHAT_ID", values.wechat, ("WeChat id", "微信号"), NAMED),
    Kind("QQ", values.qq, ("QQ", "QQ"), NAMED),
)

_ENGLISH = (
    "{said} {value}",
    "Her {said} is {value}, please keep it.",
    "For the renewal we need the {said}: {value}",
    "my {said} number is {value} and I moved last spring",
    "He left his {said} ({value}) at the desk",
    "{said}={value};",
)
_CHINESE = (
    "{said}{value}",
    "她的{said}是{value}，请记住。",
    "办理续签需要{said}：{value}",
    "我的{said}为{value}去年春天搬家了",
    "他把{said}（{value}）留在前台",
    "登记{said}{value}谢谢",
)
_PLAIN = {
    "en": ("{value} is what she gave us.", "Please note down {value} for later", "- {value}"),
    "zh": ("请记一下{value}谢谢", "她留的是{value}，以后用", "（{value}）"),
}
_DECOYS = (
    "order {number}",
    "invoice no. {number} was paid",
    "订单号{number}已发货",
    "快递单号：{number}",
    "commit {hex}",
    "sha256:{hex}{hex}",
    "at {stamp} the job finished in {small} ms",
    "日志时间戳{stamp}000，耗时{small}毫秒",
    "request {uuid} took {small} ms",
    "version {small}.{tiny}.{tiny}",
    "部件编号{letters}-{number}",
    "tracking {letters}{number}",
)


def _spaced(value: str) -> str:
    plain = "".join(sign for sign in value if sign.isalnum())
    return " ".join(plain[at : at + 4] for at in range(0, len(plain), 4))


def _zero_width(rng: Rng, value: str) -> str:
    at = rng.randrange(1, len(value))
    return value[:at] + rng.choice("\u200b\u2060\u200d\ufeff") + value[at:]


_SPACEABLE = {"CN_RESIDENT_ID", "CREDIT_CARD", "IBAN_CODE"}


def dressed(rng: Rng, kind: Kind, value: str) -> tuple[str, str]:
    """Return a way of writing `value`, and its name."""
    names = ["plain", "plain", "full-width", "zero-width"]
    if kind.name in _SPACEABLE:
        names.append("spaced")
    if kind.make is values.mobile:
        names += ["spaced", "numerals"]
    name = rng.choice(names)
    if name == "full-width":
        return value.translate(_FULL_WIDTH), name
    if name == "zero-width":
        return _zero_width(rng, value), name
    if name == "spaced":
        return (
            f"{value[:3]} {value[3:7]} {value[7:]}"
            if kind.make is values.mobile
            else _spaced(value)
        ), name
    if name == "numerals":
        return value.translate(_NUMERALS), name
    return value, name


def notes(kind: Kind, language: str, count: int, seed: int = 0) -> Iterator[Note]:
    """Yield `count` notes with one true value each.

    Args:
        kind: of `KINDS`.
        language: `en` or `zh`.
        count: at least 1.
        seed: the same one gives the same notes.
    """
    rng = random.Random(f"{kind.said}{language}{seed}")
    shapes = _ENGLISH if language == "en" else _CHINESE
    for _ in range(count):
        value, dress = dressed(rng, kind, kind.make(rng))
        free = not kind.named and dress != "numerals" and rng.random() < 0.3  # noqa: PLR2004 - a share
        shape = rng.choice(_PLAIN[language] if free else shapes)
        before, after = shape.replace("{said}", kind.said[language == "zh"]).split("{value}")
        yield Note(
            kind=kind.name,
            language=language,
            dress=dress,
            text=before + value + after,
            start=len(before),
            end=len(before) + len(value),
        )


def decoys(kind: Kind, language: str, count: int, seed: int = 0) -> Iterator[Note]:
    """Yield `count` texts in which nothing of `kind` stands: broken checks, and other numbers.

    A broken check stands without its name: beside "card" even a mistyped card is most of one.
    """
    rng = random.Random(f"{kind.said}{language}{seed}decoy")
    for number in range(count):
        if kind.spoil is not None and number % 2:
            value = kind.spoil(rng, kind.make(rng))
            shape = rng.choice(_PLAIN[language])
            text, dress = shape.replace("{value}", value), "wrong check"
        else:
            text, dress = _decoy(rng), "other number"
        yield Note(kind=kind.name, language=language, dress=dress, text=text, start=0, end=0)


def _decoy(rng: Rng) -> str:
    return rng.choice(_DECOYS).format(
        number=values.digits(rng, rng.choice((8, 10, 12, 13, 15, 16, 18))),
        hex="".join(rng.choices("0123456789abcdef", k=32)),
        stamp=1_700_000_000 + rng.randrange(90_000_000),
        uuid="-".join(
            "".join(rng.choices("0123456789abcdef", k=size)) for size in (8, 4, 4, 4, 12)
        ),
        small=rng.randrange(10, 999),
        tiny=rng.randrange(20),
        letters="".join(rng.choices(string.ascii_uppercase, k=3)),
    )
