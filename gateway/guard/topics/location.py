"""Precise location: where somebody is or lives to within metres, and where a home's key lies.

Rules this module keeps:
- Coordinates count as a pair of which each has four decimals or more (some ten metres), within the
  ranges of latitude and longitude. Losses and learning rates have as many and are none.
- A city, a district and a distance to the station are none.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.topics.people import OWNERS, PERSON, PERSON_CN
from gateway.guard.topics.topic import Cue, Reading, Span, Topic, whole

_DEGREES = r"[-+−]?[0-9]{1,3}\.[0-9]{4,12}"
_NAMED = r"(?:lat(?:itude)?|lng|lon(?:g(?:itude)?)?|北纬|南纬|东经|西经|经度|纬度|[NSEW])"
_PAIR = re.compile(
    rf"(?<![0-9.])(?P<one>{_DEGREES})(?![0-9])[°˚度 ]{{0,2}}(?:[NSEW北南东西](?![a-z]))?[ ,，、;/"
    rf"|]{{1,3}}"
    rf"(?:(?:and |&|和)?{_NAMED}[ :：=是为]{{0,3}})?(?P<two>{_DEGREES})(?![0-9])",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?<![a-z])(?:lat(?:itude)?|lng|lon(?:g(?:itude)?)?|gps|geo|coord(?:inate)?s?|location|map"
    r"|maps|here|home|house|live"
    r"|lives|meet|address|pin|park(?:ed)?|i['’]?m at|position)(?![a-z])|[°˚]|北纬|南纬|东经|西经"
    r"|经度|纬度|坐标|位置|定位|家|住|这里|地址|导航",
    re.IGNORECASE,
)
_NUMBERS = re.compile(
    r"(?<![a-z])(?:loss|rates?|accuracy|scores?|weights?|version|prices?|embedding|vectors?"
    r"|tensor|ratio|precision|recall"
    r"|p-?values?|mean|std|sigma|pi|e is|results?|metrics?|f1|auc|percent|probabilit\w{2,4}"
    r"|values?|usd|eur|bleu|array)(?![a-z])"
    r"|损失|学习率|准确率|精度|圆周率|概率|权重|向量|价格|汇率|指标|得分|特征",
    re.IGNORECASE,
)
_MOST_LATITUDE, _MOST_LONGITUDE = 90.0, 180.0
_NEAR = 40


class _Coordinates(Cue):
    """A pair of coordinates: its numbers are judged as well."""

    def __init__(self) -> None:
        super().__init__(_PAIR.pattern, wanted=(".",))

    @override
    def find(self, reading: Reading) -> Iterator[Span]:
        text = reading.text
        for match in _PAIR.finditer(text):
            one, two = (abs(float(match[name].replace("−", "-"))) for name in ("one", "two"))
            if min(one, two) > _MOST_LATITUDE or max(one, two) > _MOST_LONGITUDE:
                continue
            before = text[max(0, match.start() - _NEAR) : match.start()].rsplit("\n", 1)[-1]
            after = text[match.end() : match.end() + _NEAR].split("\n", 1)[0]
            around = f"{before} {match.group()} {after}"
            if re.match(r"[ ,，]{1,2}-?[0-9]\.[0-9]", after) or re.search(
                r"[0-9]\.[0-9]{2,12}[ ,，]{1,2}$", before
            ):
                continue  # three and more numbers in a row are a vector
            if _PLACE.search(around) or not _NUMBERS.search(around):
                yield Span(*match.span(), 0.7)


_HIDING = (
    r"mat|door ?mat|flower ?pots?|plant ?pots?|pot|rock|stone|brick|planter|mail ?box|letter ?box"
    r"|lock ?box|key ?safe|shed"
    r"|gutter|door ?frame|porch|meter box|bird ?house|gnome|window ?sill|bins?|garage|bench|hedge"
    r"|fuse box|shoe rack|grill"
)

_DWELLING = whole(
    r"door ?mats?|(?:front|back|side|main|street) ?doors?|doors?|house|home|flat|apartment"
    r"|porch|gate|garage|cottage|cabin|(?:my|our|his|her|their|your) place|hallway"
    r"|[0-9]{1,5}[a-z]? (?:[a-z]{2,12} ){1,3}(?:street|st|road|rd|lane|avenue|ave|drive|close|way"
    r"|court)"
)
"""What makes the hiding place of a key somebody's home; under a stone anywhere it tells little."""
_DWELLING_CN = r"门|家|楼|栋|幢|室|屋|院|号|单元|小区|村|公寓"

_ENGLISH = (
    Cue(
        rf"(?<![a-z])keys?(?:['’]s)?(?: (?!binding|value|column|store|word"
        rf"|schema)[a-z'’]{{1,12}}){{0,5}} (?:under(?:neath)?"
        rf"|behind|inside|in|beneath|above|on|below) (?:the |a |my |our |that |his "
        rf"|her )?(?:[a-z]{{2,10}} ){{0,2}}(?:{_HIDING})"
        r"(?![a-z])",
        around=_DWELLING,
        unless=whole(
            r"primary|foreign|api|ssh|private|public|settings|json|dict(?:ionary)?|table|redis"
            r"|encryption|secret|shortcut"
        ),
        wanted=("key",),
    ),
    Cue(
        rf"(?<![a-z])(?:{_HIDING})(?: [a-z0-9 ,]{{1,24}}){{0,2}} (?:and|where|has|holds"
        rf"|with) (?:the )?(?:spare |house |front"
        r" door ){0,2}key",
        wanted=("key",),
        around=_DWELLING,
        unless=whole(r"primary|foreign|api|ssh|private|public|json"),
    ),
    Cue(
        r"(?<![a-z])(?:shar(?:e|es|ed|ing)|send(?:s|ing)?|sent|here(?:['’]s| is)|this is|see"
        r"|follow|track(?:s|ed|ing)?|watch)"
        rf"(?: (?:you|him|her|them|{OWNERS}|the|of|with|a)){{0,3}} (?:live|real[- ]?time|current"
        rf"|exact|precise|gps)"
        r"(?: gps)? (?:location|position|whereabouts)",
        unless=whole(r"app|service|services|api|permission|feature|users?"),
        wanted=("location", "position", "whereabouts"),
    ),
    Cue(
        rf"(?:{whole(OWNERS)}) (?:current|exact|live|precise|real[- ]?time) (?:location"
        rf"|position) (?:is|was|:)",
        unless=whole(r"app|service|api|permission|file|cursor"),
        wanted=("location", "position"),
    ),
)

_CHINESE = (
    Cue(
        r"钥匙[^，。！？；\n]{0,6}(?:放|藏|压|塞|挂|埋|在|丢)[^。！？；\n]{0,12}?(?:垫|花盆|花坛"
        r"|地毯|鞋柜|鞋架|鞋里|奶箱|消防栓|信箱|报箱|电表|水表|门框"
        r"|石头|门口|窗台|砖|箱|门缝|门后|树下|车库|柜顶|管道井)",
        around=_DWELLING_CN,
        unless=r"密钥|API|api|配置",
        wanted=("钥匙",),
    ),
    Cue(
        r"实时(?:位置|定位)|(?:共享|分享|发送|发(?:给|了|过|你|我|的|一下))(?:了|着"
        r"|一下)?[^，。！？；\n]{0,8}(?:位置|定位)|(?:位置|定位)(?:共享|分享|发)(?:给|了|你|他"
        r"|她)",
        around=rf"(?:{PERSON_CN})|你|这",
        unless=r"权限|功能|应用|产品|接口|市场|服务|用户可以|岗位|文件|App|app|开关|按钮",
        wanted=("位置", "定位"),
    ),
)

_ADDRESSED = Cue(
    r"(?<![a-z])(?:door code|gate code|alarm code|lock ?box code|门禁密码|开门密码"
    r"|单元门密码)(?: [a-z]{1,8}){0,2}[ :：是为]{0,3}[0-9]{3,8}",
    around=PERSON + "|" + PERSON_CN,
    wanted=("code", "密码"),
)

PRECISE_LOCATION = Topic("PRECISE_LOCATION", (_Coordinates(), *_ENGLISH, *_CHINESE, _ADDRESSED))
