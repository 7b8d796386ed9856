"""A child under 14, named with its age.

Rules this module keeps:
- It takes a word for a child and an age below 14: "my 8-year-old", 我女儿今年6岁. "My kids" alone
  is none, and neither is a whisky, a company or a cat of that age.

Source: Personal Information Protection Law of the PRC, articles 28 and 31: under 14.
"""

from gateway.guard.topics.people import OWNERS
from gateway.guard.topics.topic import Cue, Topic, whole

_CHILD_NEEDLES = (
    "son",
    "daughter",
    "kid",
    "child",
    "toddler",
    "baby",
    "babies",
    "newborn",
    "infant",
    "boy",
    "girl",
    "nephew",
    "niece",
    "twins",
    "triplets",
    "youngest",
    "eldest",
    "oldest",
    "middle one",
    "little",
    "brother",
    "sister",
    "pupil",
    "firstborn",
    "preschooler",
)
_CHILD = (
    r"sons?|daughters?|kids?|child|children|toddlers?|baby|babies|newborn|infant|boys?|girls?"
    r"|nephews?|nieces?"
    r"|(?:great-)?grand-?(?:sons?|daughters?|child|children|kids?)|twins|triplets|youngest|eldest"
    r"|oldest|middle one"
    r"|little (?:ones?|brothers?|sisters?|boy|girl)|step-?(?:sons?|daughters?)|god(?:son|daughter"
    r"|child)|kiddo|pupil"
    r"|(?:baby|younger|half-?|step-?) ?(?:brother|sister)|foster child|preschooler|firstborn"
)
_YEARS = (
    r"(?:1[0-3]|[0-9]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|thirteen)(?:[.,]5| and a half|½)?"
)
_MONTHS = r"(?:[1-3]?[0-9]|[a-z]{3,9})"
_AGE_TAIL = (
    r"(?= ?(?:years?[- ](?:old|of age)|years old|yrs?|y/?o(?![a-z])|$|[,.;:!?)\n]|and(?![a-z])"
    r"|now(?![a-z])|last(?![a-z])"
    r"|next(?![a-z])|this(?![a-z])|in (?:january|february|march|april|may|june|july|august"
    r"|september|october|november"
    r"|december|spring|summer|autumn|fall|winter|a (?:week|month))|today|tomorrow|on |but |so "
    r"|who |already|soon|yesterday"
    r"|years? and))"
)
_OLD = rf"{_YEARS}[- ]?(?:years?|yrs?|yr)[- ]?old"
_THINGS = (
    r"whisk(?:e)?y|rum|wine|scotch|port|cheese|cars?|laptops?|phones?|houses?|company|companies"
    r"|servers?|dogs?|cats?|pupp(?:y|ies)"
    r"|kittens?|horses?|trees?|bugs?|code(?:base)?|accounts?|projects?|buildings?|systems?|bikes?"
    r"|computers?|tickets?|issues?"
    r"|records?|start-?ups?|business|machines?|boats?|vans?|trucks?|tvs?|mattress|marriage|study"
    r"|database|drives?|disks?|apps?"
    r"|bike|camera|fridge|printer|contract|lease|law|rule|tradition|school|club|band|song|film"
    r"|movie|book|plant|parrot|rabbit"
    r"|hamster|tortoise|mare|gelding|sofa|roof|boiler|kernel|repo(?:sitory)?|library|version"
    r"|commit|branch|policy|debt"
)

_ENGLISH = (
    Cue(
        rf"{whole(OWNERS)}(?: (?!is |are |was |has |turned )[a-z]{{2,10}},?){{0,3}} {_YEARS}[- ]y"
        rf"ear[- ]olds?(?![a-z])"
        rf"(?! (?:{_THINGS})(?![a-z]))",
        wanted=("old",),
    ),
    Cue(
        rf"(?<![a-z])(?:a|an|the|two|three|have|has|with|our|my) {_OLD}(?:s)?,? (?:{_CHILD}"
        rf"|at home|in the house|who|and a"
        rf" (?:{_YEARS}|newborn|baby|toddler))(?![a-z])",
        wanted=("old",),
    ),
    Cue(
        rf"(?<![a-z])(?:{_CHILD})(?! (?:{_THINGS})(?![a-z]))(?:[ ,]{{1,2}}[A-Za-z'’]{{1,14}}){{0,"
        rf"3}}(?:,| is| are|['’]s| was| turned| turns| turning| will be|"
        rf" just turned| has turned| who is| who['’]s| aged?| of| only)(?: (?:only|just|now"
        rf"|almost|nearly|about|turning|aged?"
        rf"|already|still|turned|going on|,)){{0,2}} {_YEARS}(?![0-9a-z%:]|\.[0-9]){_AGE_TAIL}",
        unless=r"(?:child|parent) (?:process|node|company|element)",
        wanted=_CHILD_NEEDLES,
    ),
    Cue(
        rf"(?<![a-z])(?:{_CHILD})(?: [A-Z][A-Za-z'’]{{1,14}}){{0,2}} \({_YEARS}(?: ?(?:years?(?: "
        rf"old)?|yrs?|y/?o))?\)",
        wanted=(" (",),
    ),
    Cue(
        rf"(?<![a-z])(?:{_CHILD})(?:[ ,]{{1,2}}[A-Za-z'’]{{1,14}}){{0,5}} {_MONTHS}[- ](?:months?"
        rf"|weeks?)(?:[- ]old)?(?![a-z])"
        r"(?! (?:ago|later|leave|in jail|abroad|pregnant|to go))",
        around=rf"months?[- ]old|weeks?[- ]old|(?:{whole('baby|newborn|infant|toddler')})",
        unless=whole(r"pregnant|due|expecting|ago|process|leave"),
        wanted=("month", "week"),
    ),
    Cue(
        rf"(?:{whole(OWNERS)}) {_MONTHS}[- ](?:months?|weeks?)[- ]olds?(?![a-z])(?! (?:{_THINGS})"
        rf"(?![a-z]))",
        wanted=("old",),
    ),
    Cue(
        rf"(?<![a-z])(?:a|an|the|have|has) {_MONTHS}[- ](?:months?"
        rf"|weeks?)[- ]old(?! (?:{_THINGS})(?![a-z]))"
        rf"(?: (?:{_CHILD})(?![a-z])|(?=$|[,.;!?\n]| (?:at home|who|is|has|and|needs|loves|hates"
        rf"|sleeps|wakes)))",
        wanted=("old",),
    ),
    Cue(
        rf"(?<![a-z])(?:he|she|they)(?:['’](?:s|re)| is| are| just turned| turned) (?:only |just "
        rf"|now |almost )?{_YEARS}"
        rf"(?![0-9a-z%:]|\.[0-9]){_AGE_TAIL}",
        before=rf"{whole(_CHILD)}[^.]{{0,50}}$",
        wanted=_CHILD_NEEDLES,
    ),
)

_CHILD_CN = (
    r"女儿|儿子|孩子|小孩|宝宝|宝贝|娃|闺女|侄子|侄女|侄儿|外甥|外孙|孙子|孙女|双胞胎|龙凤胎|老大"
    r"|老二|老三|小宝|大宝|二宝|弟弟|妹妹"
    r"|小朋友|丫头|囡囡|小儿|小女|长子|长女|幼子|幼女|男孩|女孩|婴儿|姑娘|小子"
)
_DIGITS_CN = r"[0-9一二两三四五六七八九十]"
_YEARS_CN = rf"(?<!{_DIGITS_CN})(?:1[0-3]|[0-9]|十[一二三]?|[一二两三四五六七八九半])(?:周)?岁"
_NOT_CN = (
    r"岁(?:以上|以下|以内|以前|之前|的时候|那年|开始)|(?:猫|狗|公司|集团)[^，。]{0,6}岁"
    r"|岁的?小?(?:猫|狗)|进程|小时候"
)

_CHINESE = (
    Cue(
        rf"(?:{_CHILD_CN})[^。！？；\n0-9]{{0,14}}?{_YEARS_CN}",
        unless=_NOT_CN,
        wanted=("岁",),
    ),
    Cue(
        rf"{_YEARS_CN}(?:多|半|大|零[0-9一二三四五六七八九十]{{1,2}}个月)?(?:的"
        rf"|，)?(?:小)?(?:{_CHILD_CN})",
        unless=_NOT_CN,
        wanted=("岁",),
    ),
    Cue(
        rf"(?:{_CHILD_CN})[^。！？；\n0-9]{{0,8}}?(?<!{_DIGITS_CN})(?:[1-3]?[0-9]"
        rf"|[一二两三四五六七八九十]{{1,2}})个(?:多)?月(?:大|了|零)?"
        rf"|(?<!{_DIGITS_CN})(?:[1-3]?[0-9]|[一二两三四五六七八九十]{{1,2}})个(?:多)?月大?的(?:"
        rf"{_CHILD_CN})",
        unless=_NOT_CN + r"|怀|没见|个月前|学了|个月后|请假|住院|住校|离家|实习|花了",
        wanted=("个月", "个多月"),
    ),
    Cue(
        rf"(?:{_CHILD_CN})[^。！？；\n]{{0,12}}(?:上|读|念)(?:幼儿园|小班|中班|大班|托班|小学"
        rf"|[一二三四五六]年级)",
        wanted=("幼儿园", "班", "小学", "年级"),
        around=_YEARS_CN,
        unless=_NOT_CN,
    ),
)

MINOR = Topic("MINOR", (*_ENGLISH, *_CHINESE))
