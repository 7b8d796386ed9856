"""Belief and its kin: religion, political view, union membership, sexual orientation.

Rules this module keeps:
- It counts when it is somebody's: "I'm a Muslim", 她信佛. An old church, a union of sets, the
  European Union and a party on Saturday are none.
- What a person does says it as well: praying, voting for a party, keeping kosher.

Source: GDPR, article 9(1).
"""

from gateway.guard.topics.people import OWNERS, PERSON, PERSON_CN
from gateway.guard.topics.topic import Cue, Topic, whole

_IS = (
    r"(?<![a-z])(?:am|is|are|was|were|be|been|became|become|raised|born|grew up|i['’]m|he['’]s"
    r"|she['’]s"
    r"|they['’]re|we['’]re|as an?|identif(?:y|ies|ied) as|married an?|user|practi[sc]ing|devout"
    r"|strict"
    r"|lapsed|ex)(?:[ -](?:an?|the|very|also|both|openly|actually|proudly|born|still|not"
    r"|practi[sc]ing"
    r"|devout|strict|lapsed|orthodox|reform|roman|liberal|sunni|shia|registered|lifelong|a lifelong"
    r"|raised|secular|committed|proud|staunch|moderate|fairly|pretty|quite|old-school)){0,4}[ -]$"
)
_FAITHS = (
    r"muslims?|christians?|catholics?|protestants?|jewish|jews?|hindus?|buddhists?|sikhs?|atheists?"
    r"|agnostics?|mormons?|quakers?|evangelicals?|lutherans?|baptists?|methodists?|anglicans?"
    r"|jehovah['’]s witness(?:es)?|taoists?|pagans?|wiccans?|orthodox(?: jewish| christians?)?"
    r"|sunni"
    r"|shia|born-again|presbyterian|adventist|baha['’]?i|zoroastrian|jain|rastafarian|pentecostal"
    r"|religious|an unbeliever|a believer"
)
_PARTIES = (
    r"labour|tory|tories|the conservatives|the greens?|green|lib ?dems?|democrats?|democratic"
    r"|republicans?|the left|the right|left|trump|biden|harris|obama|sanders|brexit|the afd|afd"
    r"|spd|cdu"
    r"|le pen|macron|modi|bjp|the snp|snp|podemos|the socialists?|ukip|reform uk|liberals|kmt|dpp"
)
_ORIENTATIONS = (
    r"gay|lesbian|bisexual|bi|queer|asexual|pansexual|homosexual|heterosexual|transgender"
    r"|trans|a trans (?:man|woman)|non-?binary|genderqueer|gender ?fluid|intersex|lgbtq?\+?"
    r"|closeted"
)
_ENDS = (
    r"(?=[ ]{0,1}(?:$|[,.;:!?()\n]|and(?![a-z])|so(?![a-z])|but(?![a-z])|who|since|from|at heart"
    r"|by|voter))"
)

_ENGLISH = (
    Cue(
        whole(_FAITHS),
        before=_IS,
        unless=whole(r"cathedral|art|church in|architecture|temple in|scripture course|music"),
    ),
    Cue(
        r"(?<![a-z])(?:convert(?:ed|ing|s)? (?:to|from)|believes? in|left|raised in|faith in"
        r"|practi[sc]es?"
        r"|follow(?:s|er of)?|embraced) (?:islam|christianity|catholicism|judaism|buddhism"
        r"|hinduism|sikhism"
        r"|protestantism|orthodoxy|god|allah|jesus|the church|mormonism|paganism|taoism|scientology"
        r"|the catholic (?:faith|church))(?![a-z])",
        around=PERSON,
        wanted=(
            "islam",
            "ism",
            "christianity",
            "orthodoxy",
            "god",
            "allah",
            "jesus",
            "scientology",
            "the c",
        ),
    ),
    Cue(
        whole(
            r"faith|religion|religious (?:beliefs?|reasons)|church|mosque|synagogue|parish|rabbi"
            r"|imam|pastor"
            r"|priest|congregation|bible study|baptism|bar mitzvah|bat mitzvah|confirmation class"
        ),
        before=rf"{whole(OWNERS + '|for')}(?: [a-z]{{3,12}})? $",
        unless=whole(r"is my religion|good faith|bad faith|joked|for church windows|leap of"),
    ),
    Cue(
        r"(?<![a-z])(?:pray(?:s|ed|ing)? (?:five|every|daily|before|at|to|three|each|together)"
        r"|friday"
        r" prayers?|sunday (?:mass|service)|(?:go(?:es|ing)?|went) to (?:church|mass|mosque"
        r"|the mosque|synagogue"
        r"|temple|shul)|attends? (?:church|mass|services|synagogue|mosque)|(?:keeps?|kept|keeping"
        r"|eats?"
        r"|observes?|observing|only) (?:strictly |strict )?(?:kosher|halal|sabbath|shabbat"
        r"|the sabbath|lent|ramadan)"
        r"|fast(?:s|ed|ing)? (?:for|during) (?:ramadan|lent|yom kippur)"
        r"|sing(?:s)? in the church choir"
        r"|wears? (?:a |the )?(?:hijab|kippah|turban|niqab)|tith(?:e|es|ing))(?![a-z])",
        around=PERSON,
        wanted=(
            "pray",
            "sunday",
            "to church",
            "to mass",
            "mosque",
            "synagogue",
            "temple",
            "shul",
            "attend",
            "kosher",
            "halal",
            "sabbath",
            "shabbat",
            "lent",
            "ramadan",
            "yom kippur",
            "choir",
            "hijab",
            "kippah",
            "turban",
            "niqab",
            "tith",
        ),
    ),
    Cue(
        rf"(?<![a-z])(?:vot(?:e|es|ed|ing)(?: for| against)?(?: the)?|campaign(?:s|ed|ing)? for"
        rf"|canvass(?:es|ed"
        rf"|ing)? for|donat(?:e|es|ed|ing) to|support(?:s|ed|ing|er of)?|a member of|joined"
        rf"|ran for|leans?"
        rf"|volunteers? for) (?:{_PARTIES})(?![a-z])(?! (?:button|option|colou?r|label|version"
        rf"|screen"
        r"|side|join|proposal|light|theme|paint|one|plan|of the|and red))",
        around=PERSON,
        unless=whole(r"company|button|branch|design|logo"),
        wanted=(
            "vot",
            "campaign",
            "canvass",
            "donat",
            "support",
            "member of",
            "joined",
            "ran for",
            "lean",
            "volunteer",
        ),
    ),
    Cue(
        r"(?<![a-z])(?:registered (?:republican|democrat|independent voter)|(?:member|supporter"
        r"|activist|councillor"
        r"|card-carrying member|secretary|treasurer) (?:of|for|in) (?:the "
        r"|a )?(?:[a-z]{2,14} ){0,3}party(?![a-z])"
        r"|party member(?:ship)?|political (?:views?|beliefs?|leanings?)|left-wing|right-wing"
        r"|far[- ]left|far[- ]right"
        r"|joined the (?:[a-z]{2,14} ){1,3}party(?![a-z]))",
        around=PERSON,
        unless=whole(
            r"birthday|third[- ]party|planning|search party|wedding|history|book|essay"
            r"|newspapers?|article"
        ),
        wanted=("registered", "party", "political", "wing", "left", "right"),
    ),
    Cue(
        whole(
            r"democrat|republican|socialist|communist|marxist|libertarian|conservative|liberal"
            r"|tory|leftist"
            r"|anarchist|feminist|pacifist|trump supporter|brexiteer|remainer|social democrat"
            r"|monarchist"
        )
        + _ENDS,
        before=_IS,
        around=PERSON,
        wanted=(
            "democrat",
            "republican",
            "ist",
            "libertarian",
            "conservative",
            "liberal",
            "tory",
            "trump",
            "brexiteer",
            "remainer",
        ),
    ),
    Cue(
        whole(
            r"union (?:member(?:ship)?|rep(?:resentative)?s?|steward|card|dues|organi[sz]er"
            r"|delegate|meeting"
            r"|official|branch)|shop steward|unioni[sz]ed|trade unionist"
        ),
        around=PERSON,
        unless=whole(r"credit union|european|soviet|discriminated|typescript|type"),
    ),
    Cue(
        r"(?<![a-z])(?:join(?:ed|ing)?|in|belongs? to|member of|active in|dues to|rep for"
        r"|strike with|pay) (?:the|a"
        r"|my|our|his|her|their)(?: (?!credit|european|student|soviet|western"
        r"|rugby)[a-z'’]{2,14}){0,3} union(?![a-z])",
        around=PERSON,
        unless=whole(
            r"credit union|sets?|query|rows|tables|select|european|directive|types?|monetary"
        ),
        wanted=("union",),
    ),
    Cue(
        whole(_ORIENTATIONS),
        before=_IS[:-1] + r"|(?:came|come|coming) out(?: to [a-z ]{2,20})? as (?:an? )?$",
        around=PERSON + "|" + whole("user|[a-z]{3,12} is"),
        unless=whole(
            r"monthly|weekly|annual|release|character|film|movie|novel|series|book|bar in"
            r"|district|fats?|flag"
        ),
    ),
    Cue(
        whole(
            r"sexual orientation|gender identity|his (?:husband|boyfriend)|her (?:wife"
            r"|girlfriend)|came out to"
            r"|coming out to|gender transition|pronouns are they|use they/them"
        ),
        around=PERSON,
        unless=whole(r"column|field|enum|form|policy|directive|law|training|his or her"),
    ),
)

_PARTIES_CN = (
    r"民进党|国民党|民众党|共和党|民主党|工党|保守党|绿党|自民党|社民党|共产党|特朗普|川普|拜登"
    r"|选择党|社会党"
)
_NOT_OF_A_PERSON_CN = (
    r"电影|小说|艺术|建筑|题材|博物馆|论文|课程|作业|展览|旅游|参观|游览|新闻|历史课|文章|研究"
)

_CHINESE = (
    Cue(
        r"(?:穆斯林|回族|基督徒|天主教徒?|佛教徒|道教徒|伊斯兰教徒|犹太教徒?|犹太人|无神论者|居士"
        r"|虔诚[^，。]{0,6}教徒|摩门教徒?"
        r"|印度教徒|锡克教徒|新教徒|东正教徒?|基督教徒|信徒|有神论者|不可知论者)",
        around=rf"(?:{PERSON_CN})[^。]{{0,14}}(?:是|当|成|做|信|作为|都|家)|(?:是"
        rf"|作为)[^。]{{0,4}}(?:的|位|名|个)?",
        unless=_NOT_OF_A_PERSON_CN,
        wanted=(
            "穆斯林",
            "回族",
            "徒",
            "天主教",
            "犹太",
            "无神论",
            "居士",
            "摩门",
            "东正教",
            "神论",
            "不可知论",
        ),
    ),
    Cue(
        r"(?<![相确自诚迷书短守坚])信(?:奉|仰)?(?:了|的是|着)?(?:佛(?!系)|天主|基督|耶稣|上帝"
        r"|真主|安拉|伊斯兰|道教|主(?![意观动题])|回教|东正教|萨满"
        r"|妈祖|教(?!育|程|练|室|师))|皈依|受洗|做[^，。]{0,4}礼拜|做弥撒|祷告|斋月|封斋|把斋"
        r"|吃斋|念佛|诵经|朝觐|清真(?:饮食|食品|餐)"
        r"|(?:只吃|吃|要)清真|(?:初一|十五)[^，。]{0,4}吃素|去[^，。]{0,8}(?:教堂|清真寺"
        r"|会堂)[^，。]{0,4}(?:礼拜|祈祷|聚会|告解)"
        r"|(?:宗教)?信仰(?:是|为|佛|伊斯兰|基督|天主)|我的信仰|团契|拜菩萨|供佛|查经",
        around=rf"(?:{PERSON_CN})|每",
        unless=_NOT_OF_A_PERSON_CN,
        wanted=(
            "信",
            "皈依",
            "受洗",
            "礼拜",
            "弥撒",
            "祷告",
            "斋",
            "念佛",
            "诵经",
            "朝觐",
            "清真",
            "吃素",
            "教堂",
            "会堂",
            "团契",
            "菩萨",
            "供佛",
            "查经",
        ),
    ),
    Cue(
        r"党员|入党|入了党|党支部|支部会|共青团员|民主党派|政治(?:面貌|立场|观点|倾向)|左派|右派"
        r"|自由派|保守派|极左|极右",
        around=rf"(?:{PERSON_CN})",
        unless=_NOT_OF_A_PERSON_CN + r"|第三方",
    ),
    Cue(
        rf"(?:支持|投票?(?:给|了给|给了|了)?|加入|属于|选了?|拥护|退出"
        rf"|退了)(?:了)?[^，。！？]{{0,4}}(?:{_PARTIES_CN})|(?:{_PARTIES_CN})"
        r"(?:的)?(?:支持者|党员|成员|粉丝|选民)",
        around=PERSON_CN,
        unless=_NOT_OF_A_PERSON_CN,
        wanted=("党", "特朗普", "川普", "拜登"),
    ),
    Cue(
        r"(?:加入|参加|入|加|退出|退)(?:了|过)?[^，。！？]{0,8}工会|工会(?:会员|委员|主席|干部"
        r"|代表|成员|会费|小组长)|是[^，。！？]{0,8}工会",
        around=PERSON_CN,
        unless=r"工会法|新闻|论文|游戏",
        wanted=("工会",),
    ),
    Cue(
        r"同性恋|双性恋|异性恋|跨性别|无性恋|泛性恋|非二元|出柜|女同|男同(?!学|事|胞)|拉拉(?!队)"
        r"|同志(?=身份|伴侣)|性取向|性少数|变性|酷儿",
        around=PERSON_CN,
        unless=_NOT_OF_A_PERSON_CN + r"|法案|字段|婚姻法",
        wanted=(
            "性恋",
            "跨性别",
            "非二元",
            "出柜",
            "女同",
            "男同",
            "拉拉",
            "同志",
            "性取向",
            "性少数",
            "变性",
            "酷儿",
        ),
    ),
)

BELIEF = Topic("BELIEF", (*_ENGLISH, *_CHINESE))
