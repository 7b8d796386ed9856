"""Finance: what a person earns, has and owes, with the amount.

Rules this module keeps:
- It takes an amount and a word for what it is of: a salary, a balance, a debt. A price, a budget
  and a favour that is owed are none.
- What a company earns or owes is none.
"""

from gateway.guard.topics.people import PERSON_CN, RELATIVES
from gateway.guard.topics.topic import Cue, Topic, whole

_NUMBER = r"[0-9](?:[0-9,.' ]{0,14}[0-9])?"
_CURRENCY = (
    r"dollars?|euros?|pounds?(?: sterling)?|bucks|quid|usd|eur|gbp|cny|rmb|yuan|yen|francs?"
    r"|rupees?|kronor|grand"
)
_AMOUNT = (
    rf"(?:(?:[$€£¥₹]|us\$|usd ?|eur ?|gbp ?|rmb ?|chf ?) ?{_NUMBER} ?(?:k|m|mil|million|thousand"
    rf"|bn|grand)?"
    rf"|{_NUMBER} ?(?:k|m|mil|million|thousand)? ?(?:[$€£¥₹]|(?:{_CURRENCY})(?![a-z]))"
    rf"|{_NUMBER} ?(?:k|million|thousand)(?![a-z])|(?:two|three|four|five|six|seven|eight|nine"
    rf"|ten|a"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|half a)(?:[- ](?:hundred|thousand"
    r"|million|five"
    rf"|grand)){{1,3}}(?: (?:{_CURRENCY}))?)(?![a-z0-9])"
)
_PLAIN = rf"(?:{_AMOUNT}|(?!(?:19|20)[0-9]{{2}}(?![0-9,.]))[0-9][0-9,.]{{2,12}}(?![0-9a-z-]))"
_OF_THINGS = whole(
    r"company|startup|team|department|project|average|median|requests?|budget|market|industry"
    r"|fund raised|series"
    r"|users a|rows|steps|calls|queries|downloads|followers|miles|km|steps|words|tokens"
    r"|clients? owes?|invoice|load"
    r"|cluster|work-life|tree|karma|points|points balance|salary range|job ad|posting|game|quest"
)
_OWNED = (
    r"salary|salaries|wages?|income|paycheck|take-home|pension|bonus|net worth|savings|balance"
    r"|debts?|mortgage"
    r"|loans?|overdraft|inheritance|allowance|severance|commission|portfolio|401\(?k\)?|isa"
    r"|retirement fund|stocks?"
    r"|investments?|student loans?|alimony|child support|earnings"
)
_HELD = r"pay|credit cards?|account|tax bill|tax refund|raise|rent arrears"
_HOLDER = whole(
    rf"my|our|his|her|their|i|we|he|she|they|i['’](?:m|ve)|{RELATIVES}|the user|user"
    rf"|[a-z]{{2,12}}['’]s"
)

_ENGLISH = (
    Cue(
        rf"(?:{whole(_OWNED)}(?: [a-z'’]{{1,14}}){{0,5}}[ :=,(]{{1,3}}{_PLAIN}|{whole(_HELD)}"
        rf"(?: [a-z'’]{{1,14}}){{0,5}}[ :=,(]{{1,3}}{_AMOUNT})",
        around=_HOLDER,
        unless=_OF_THINGS,
        wanted=(
            "salar",
            "wage",
            "income",
            "pay",
            "take-home",
            "pension",
            "bonus",
            "net worth",
            "savings",
            "balance",
            "debt",
            "mortgage",
            "loan",
            "overdraft",
            "inheritance",
            "allowance",
            "severance",
            "commission",
            "portfolio",
            "401",
            "isa",
            "retirement",
            "stock",
            "investment",
            "card",
            "account",
            "tax",
            "alimony",
            "support",
            "raise",
            "earnings",
        ),
    ),
    Cue(
        rf"(?:savings|checking|bank|current) account(?: balance)?(?: [a-z]{{1,12}}){{0,4}} "
        rf"{_AMOUNT}"
        rf"|(?:account|bank) balance(?: [a-z]{{1,12}}){{0,3}}[ :=]{{1,2}}{_PLAIN}",
        unless=_OF_THINGS,
        wanted=("account", "balance"),
    ),
    Cue(
        rf"(?<![a-z])(?:earn(?:s|ed|ing)?|mak(?:e|es|ing)|made|owes?|owed|owing|(?:gets?|got|is"
        rf"|am|was) paid|get"
        rf"|take home|takes home|brings? home|inherited|saved(?: up)?|lost|borrowed|received"
        rf"|gross(?:es)?)"
        rf"(?: [a-z'’]{{1,12}}){{0,4}} {_AMOUNT}(?![ ]?(?:requests?|calls|queries|steps|users?"
        rf"|rows|tokens|events|words"
        r"|people|views|hits|km|miles|messages|a (?:minute|second)|per (?:minute|second)))",
        around=whole(
            r"i|we|he|she|they|i['’]m|user|mom|dad|my \w{3,12}|a (?:year|month|week|hour)"
            r"|per (?:year|month|week|hour)"
            r"|annually|monthly|before tax|after tax|plus bonus|debts?|salary|in (?:stocks|crypto"
            r"|savings)"
        ),
        unless=whole(
            r"company|startup|series [a-d]|invoice|requests|ticket|price|costs?|for the (?:laptop"
            r"|phone|car|shoes|ticket"
            r"|offsite|dinner)|budget|game|refund for|paid for|deposit for"
        ),
        wanted=(
            "earn",
            "mak",
            "made",
            "ow",
            "paid",
            "home",
            "inherited",
            "saved",
            "lost",
            "borrowed",
            "received",
            "gross",
            "get ",
        ),
    ),
    Cue(
        rf"{_AMOUNT}(?: [a-z'’]{{1,12}}){{0,4}} (?:in|of|on|from"
        rf"|left on)(?: [a-z'’]{{1,12}}){{0,3}} (?:debts?|student loans?"
        r"|loans?|savings|mortgage|credit cards?|overdraft|salary|pension|stocks|crypto|bitcoin"
        r"|retirement|inheritance"
        r"|the bank|alimony|arrears)(?![a-z])",
        unless=_OF_THINGS + "|" + whole("offers?|ads?"),
        wanted=(
            "debt",
            "loan",
            "savings",
            "mortgage",
            "card",
            "overdraft",
            "salary",
            "pension",
            "stocks",
            "crypto",
            "bitcoin",
            "retirement",
            "inheritance",
            "bank",
            "alimony",
            "arrears",
        ),
    ),
    Cue(
        r"(?<![a-z])credit score(?: [a-z]{1,8}){0,3} [3-8][0-9]{2}(?![0-9])",
        wanted=("credit score",),
    ),
    Cue(
        rf"(?<![a-z])(?:annual|monthly|yearly|hourly|gross|net|base) (?:salary|income|pay"
        rf"|wage)[ a-z:=]{{1,16}}{_PLAIN}",
        unless=_OF_THINGS,
        wanted=("salary", "income", "pay", "wage"),
    ),
)

_AMOUNT_CN = (
    r"(?:[¥￥$€£]? ?[0-9][0-9,.]{0,12} ?(?:多|余)?(?:万|千|百|亿|k|w|K|W|元|块|美元|美金|欧元"
    r"|港币|日元|镑|rmb|RMB|刀)"
    r"|[¥￥$€£] ?[0-9][0-9,.]{0,12}|[0-9][0-9,.]{3,12}(?![0-9.%年月日号岁])"
    r"|[一二两三四五六七八九十百几][一二两三四五六七八九十百零几多]{0,6}(?:万|千|百|亿|块"
    r"|元)[一二两三四五六七八九十百千零多块元美金]{0,6})"
)
_OF_THINGS_CN = (
    r"公司|项目|平均|行业|预算|融资|招聘|岗位|市场|营收|部门|增长|电量|供应商|客户订单|上市|政府"
    r"|国家|积分|流量"
)
_TOLD_CN = (
    r"月薪|年薪|时薪|日薪|底薪|薪水|薪资|工资|月收入|年收入|收入|存款|积蓄|房贷|车贷|贷款|网贷"
    r"|负债|欠款|外债|退休金|养老金|年终奖|公积金"
    r"|净资产|身家|花呗|借呗|信用卡|账户余额|银行卡余额|余额|卡里|到手|税前|税后|抚养费|赡养费"
    r"|遗产|零花钱|生活费"
)

_CHINESE = (
    Cue(
        rf"(?:{_TOLD_CN})[^。！？；\n]{{0,12}}?{_AMOUNT_CN}",
        unless=_OF_THINGS_CN,
        wanted=(
            "薪",
            "工资",
            "收入",
            "存款",
            "积蓄",
            "贷",
            "负债",
            "欠款",
            "外债",
            "金",
            "奖",
            "资产",
            "身家",
            "花呗",
            "借呗",
            "信用卡",
            "余额",
            "卡里",
            "到手",
            "税前",
            "税后",
            "费",
            "遗产",
            "钱",
        ),
    ),
    Cue(
        rf"(?<!不)欠(?:了|着|下)?[^，。！？；\n]{{0,10}}{_AMOUNT_CN}",
        unless=_OF_THINGS_CN + r"|人情|技术债",
        wanted=("欠",),
    ),
    Cue(
        rf"(?:赚|挣|亏|赔|借|攒|存)(?:了|过|到|着|给|掉|进去"
        rf"|下)?[^，。！？；\n]{{0,6}}{_AMOUNT_CN}",
        around=PERSON_CN + r"|每月|每年|一个月|一年",
        unless=_OF_THINGS_CN + r"|内存|存储|缓存|存了.{0,4}(?:张|条|个)",
        wanted=("赚", "挣", "亏", "赔", "借", "攒", "存"),
    ),
    Cue(
        rf"(?:股票|基金|理财|比特币|资产|奖金|分红|股权|期权"
        rf"|彩票)[^，。！？；\n]{{0,10}}{_AMOUNT_CN}",
        around=PERSON_CN,
        unless=_OF_THINGS_CN,
        wanted=("股票", "基金", "理财", "比特币", "资产", "奖金", "分红", "股权", "期权", "彩票"),
    ),
    Cue(
        r"(?:信用分|征信分|芝麻分|芝麻信用)[^，。！？；\n]{0,6}[3-9][0-9]{2}(?![0-9])",
        wanted=("信用分", "征信分", "芝麻"),
    ),
)

FINANCE = Topic("FINANCE", (*_ENGLISH, *_CHINESE))
