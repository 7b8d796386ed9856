"""Health: what a person has, takes, cannot eat, cannot do or has gone through.

Rules this module keeps:
- An illness counts when somebody has it: "has diabetes", "my asthma", 我有高血压. A text about an
  illness, a service that is healthy and a headache that a bug gives are none.
- An allergy or an intolerance counts by itself, unless it is one to meetings.
"""

from gateway.guard.topics.people import OWNERS, PERSON, PERSON_CN
from gateway.guard.topics.topic import Cue, Topic, whole

_ILLNESSES = (
    r"diabetes|prediabetes|asthma|epilepsy|seizures|cancer|leuk(?:a)?emia|lymphoma|tumou?rs?"
    r"|melanoma"
    r"|hiv|hepatitis|arthritis|migraines?|depression|bipolar(?: disorder)?|schizophrenia"
    r"|ptsd|adhd|autism|asperger['’]?s|dyslexia|dementia|alzheimer['’]?s|parkinson['’]?s"
    r"|multiple sclerosis|hypertension|high blood pressure|low blood pressure|high cholesterol"
    r"|crohn['’]?s(?: disease)?|colitis|ibs|eczema|psoriasis|endometriosis|pcos|fibromyalgia|lupus"
    r"|an(?:a)?emia|angina|a stroke|heart (?:attack|disease|failure|condition|murmur)|arrhythmia"
    r"|insomnia|sleep apn(?:o)?ea|kidney (?:disease|failure|stones?)|glaucoma|cataracts?|ulcers?"
    r"|gout"
    r"|coeliac(?: disease)?|celiac(?: disease)?|tinnitus|vertigo|scoliosis|osteoporosis|sciatica"
    r"|ocd|panic (?:attacks?|disorder)|anxiety(?: disorder)?|generali[sz]ed anxiety|eating disorder"
    r"|anorexia|bulimia|long covid|covid(?:-19)?|pneumonia|tuberculosis|malaria|sickle cell"
    r"|cystic fibrosis|thyroid(?: (?:problem|disease|condition)s?)?|hypothyroidism|hyperthyroidism"
    r"|(?:a )?herniated dis[ck]|slipped dis[ck]|bad (?:back|knees?|hip)|chronic (?:pain|back pain"
    r"|fatigue|illness|migraines?|bronchitis)|acid reflux|shingles|herpes|chlamydia|cirrhosis"
    r"|addiction|alcoholism|burnout|postpartum depression|a concussion|a broken (?:leg|arm|wrist"
    r"|ankle"
    r"|hip)|a hernia|hay fever|a disability|disabilities|special needs|hearing loss|low vision"
    r"|tourette['’]?s|cerebral palsy|down syndrome|narcolepsy|rosacea|appendicitis"
)
_HAVING = (
    r"(?:(?:have|has|had|having|['’]ve|['’]s got|got|get|gets|getting|developed?|suffers? from"
    r"|suffering from|suffered from|liv(?:e|es|ed|ing) with|struggl(?:e|es|ed|ing) with|battl(?:e"
    r"|es|ed|ing)|dealing with|cop(?:e|es|ing) with|survived|beat|recover(?:ed|ing) from"
    r"|remission (?:after|from)|treated for|treatment for|(?:took|take|takes|taking|medication|meds"
    r"|pills|tablets) for|off sick with|hospitali[sz]ed (?:with|for)|died of|history of"
    r"|tested positive"
    r" for|because of|due to|risk of|managing|manages)"
    rf"|{whole(OWNERS)})"
)
_BETWEEN = r"(?:[ ,/]{1,2}[a-z0-9'’-]{1,14}){0,4}[ ]{1,2}(?:\()?$"
_NOT_OF_A_PERSON = whole(
    r"research|awareness|charity|foundation|statistics|dataset|data ?set|classifier|detection"
    r"|predict"
    r"\w{0,6}|articles?|papers?|essay|books?|novel|films?|movies?|documentary|podcast|lecture"
    r"|course"
    r"|symptoms? page|leaflet|campaign|headlines?|fund ?rais\w{2,4}|startup|app|schema|column"
)
_MEDICINES = (
    r"metformin|insulin|antidepressants?|ssris?|blood thinners?|warfarin|beta[- ]blockers?|statins?"
    r"|inhalers?|methadone|birth control|contraceptive(?: pill)?s?|antipsychotics?|lithium|prozac"
    r"|zoloft|sertraline|fluoxetine|lexapro|xanax|valium|ritalin|adderall|levothyroxine|lisinopril"
    r"|atorvastatin|omeprazole|prednisone|cortisone|antibiotics?|penicillin|amoxicillin|ibuprofen"
    r"|paracetamol|aspirin|melatonin|sleeping pills?|painkillers?|opioids?|ozempic|wegovy|truvada"
    r"|immunosuppressants?|antihistamines?|chemo(?:therapy)?|radiotherapy|dialysis|hormone therapy"
    r"|hrt|ivf|blood pressure (?:pills?|tablets?|medication|meds)|medications?|meds|steroids"
    r"|[a-z]{3,12}pril|[a-z]{3,12}sartan|[a-z]{3,12}olol|[a-z]{3,12}azepam|[a-z]{3,12}oxetine"
    r"|[a-z]{3,12}prazole|[a-z]{3,12}cillin|[a-z]{3,12}mycin|[a-z]{3,12}statin|[a-z]{3,12}triptan"
)
_SPECIALISTS = (
    r"therapist|psychiatrist|psychologist|oncologist|cardiologist|neurologist|dermatologist"
    r"|endocrinologist|gyn(?:a)?ecologist|urologist|rheumatologist|allergist|midwife"
    r"|physio(?:therapist)?"
)
_OPERATIONS = (
    r"(?:surgery|transplant|biopsy|mastectomy|hysterectomy|vasectomy|appendectomy"
    r"|colonoscopy|knee replacement|hip replacement|c-section|caesarean|cesarean|heart bypass"
    r"|abortion"
    r"|miscarriage|stillbirth|amputation|mri|ct scan|pacemaker|stent)"
)

_ENGLISH = (
    Cue(
        r"(?<![a-z])(?:severely |mildly |very |deathly |highly )?allergic to (?!(?:meetings?"
        r"|mondays"
        r"|mornings|work|working|bullshit|drama|paperwork|commitment|javascript|java|php|xml|yaml"
        r"|excel"
        r"|change|boredom|early|hype|buzzwords|nonsense|bureaucracy|small talk|deadlines)(?![a-z]))"
        r"[a-z0-9' ,-]{2,40}",
        wanted=("allergic to",),
    ),
    Cue(
        r"(?<![a-z])(?:(?:food|nut|peanut|pollen|latex|penicillin|shellfish|egg|dust|cat|bee"
        r"|dairy|soy"
        r"|wheat|severe|seasonal|bad|drug|milk|fish|seafood|mite|insect) allerg(?:y|ies)|allergic"
        r" reaction|epi-?pens?|anaphyla(?:xis|ctic))(?![a-z])",
        around=PERSON,
        wanted=("allerg", "epipen", "epi-pen", "anaphyla"),
    ),
    Cue(
        r"(?<![a-z])allerg(?:y|ies)(?![a-z])",
        before=rf"(?:{whole(OWNERS)}|have|has|had|an|any)(?: [a-z]{{2,12}}){{0,2}} $",
        unless=whole(r"no|search|class|page|filter|season|column|label"),
    ),
    Cue(r"(?<![a-z])(?:lactose|gluten|fructose|histamine|dairy)[- ]intoleran(?:t|ce)"),
    Cue(
        r"(?<![a-z])diagnosed (?:me )?(?:with|as) [a-z0-9' -]{2,40}",
        unless=whole(r"bug|outage|fault|leak|latency|server|cluster|build|query|disk|network"),
        wanted=("diagnosed",),
    ),
    Cue(r"(?<![a-z])diagnos(?:is|es)(?![a-z])", before=rf"{whole(OWNERS)}(?: [a-z]{{2,12}})?[ ]$"),
    Cue(
        whole(r"pregnant|miscarriages?|miscarried|stillborn|in labou?r|ovulating|menopausal"),
        around=PERSON,
        unless=whole(r"pause|silence|women in the|movie|film|novel|article|policy|law"),
    ),
    Cue(
        whole(r"pregnancy|menopause|fertility treatment|due date for the baby"),
        before=rf"(?:{whole(OWNERS)}|this|second|first|high[- ]risk)(?: [a-z]{{2,12}})?[ ]$",
    ),
    Cue(
        r"(?<![a-z])(?:expecting (?:a baby|a child|twins|our \w{5,6}|my \w{5,6}|in (?:january"
        r"|february"
        r"|march|april|may|june|july|august|september|october|november|december))"
        r"|trying (?:for a baby"
        r"|to conceive)|breast-?feeding)(?![a-z])",
        around=PERSON,
        wanted=("expecting", "trying", "feeding"),
    ),
    Cue(whole(_ILLNESSES), before=_HAVING + _BETWEEN, unless=_NOT_OF_A_PERSON),
    Cue(
        whole(
            r"diabetic|asthmatic|epileptic|autistic|dyslexic|bipolar|schizophrenic|an(?:a)?emic"
            r"|hypertensive|an? (?:recovering )?(?:alcoholic|addict)|suicidal|clinically depressed"
            r"|depressed|hiv[- ]positive|immunocompromised|neurodivergent|an? (?:stroke"
            r"|cancer) survivor"
            r"|disabled|deaf|blind(?! (?:to|copy|trust|spot|faith|review))|hard of hearing"
            r"|visually impaired|hearing impaired|colou?r[- ]?blind"
            r"|paraly[sz]ed|an? amputee|paraplegic|quadriplegic|infertile|overweight|obese"
            r"|in remission"
            r"|in rehab|bedridden|hospitali[sz]ed|terminally ill|chronically ill|coeliac|celiac"
        ),
        before=r"(?<![a-z])(?:am|is|are|was|were|been|be|became|going|born|feel|feels|i['’]m|he['’]s"
        r"|she['’]s"
        r"|they['’]re|we['’]re|as an?|a|user)(?: [a-z]{2,12}){0,2} $",
        around=PERSON,
        unless=whole(
            r"test|trial|study|review|spot|date|carbon|button|feature|flag|account|by default"
            r"|copy|option"
            r"|field|checkbox|setting|users who|accessibility"
        ),
    ),
    Cue(
        whole(_MEDICINES),
        before=r"(?<![a-z])(?:takes?|taking|took|on|prescribed|prescription for|using|use|uses"
        r"|inject(?:s"
        rf"|ing)?|carry|carries|starting|started|need|needs|stopped|off|having|{OWNERS})"
        r"(?: [a-z0-9'’-]{1,14}){0,4} $",
        around=PERSON,
        unless=whole(r"development|team|performance|on-?call|page|component|router"),
    ),
    Cue(
        whole(_SPECIALISTS),
        before=rf"(?:{whole(OWNERS)}|sees? an?|seeing an?|saw an?|visits? an?|appointment with"
        r" (?:the|an?)) $",
        around=PERSON,
        unless=whole(r"is an? (?:therapist|psychologist|psychiatrist)|became"),
    ),
    Cue(
        r"(?<![a-z])(?:wheelchairs?|crutches|hearing aids?|pacemaker|prosthe(?:tic|sis)"
        r"|walking frame"
        r"|cpap|insulin pump|stoma|guide dog|cochlear implant)(?![a-z])",
        around=rf"(?:{PERSON})[^.]{{0,30}}(?:use|uses|using|need|needs|wear|wears|have|has|in|on"
        rf"|with|rely|my)",
        unless=whole(r"accessible|ramp|icon|stores?|sells?|dance"),
    ),
    Cue(
        whole(_OPERATIONS),
        before=r"(?<![a-z])(?:had|have|has|having|undergo(?:es|ing)?|underwent|scheduled for"
        r"|recover(?:ing|y)"
        rf" from|after|needs?|waiting for|survived|before|for|{OWNERS})(?: [a-z]{{1,12}}){{0,4}} $",
        around=PERSON,
        unless=whole(r"history rewrite|git|code|appointment page|code surgery"),
        wanted=(
            "surgery",
            "transplant",
            "biopsy",
            "ectomy",
            "colonoscopy",
            "replacement",
            "c-section",
            "caesarean",
            "cesarean",
            "bypass",
            "abortion",
            "miscarriage",
            "stillbirth",
            "amputation",
            "mri",
            "scan",
            "pacemaker",
            "stent",
        ),
    ),
    Cue(
        whole(r"blood (?:pressure|sugar|type|group)|cholesterol|bmi|heart rate|a1c|resting pulse"),
        before=rf"{whole(OWNERS)}(?: [a-z]{{2,12}})? $",
    ),
    Cue(
        whole(
            r"self-?harm(?:ed|s|ing)?|suicide attempt|suicidal thoughts|panic attacks?"
            r"|nervous breakdown"
            r"|mental health (?:issues|problems|leave)|sober (?:for|since)|alcoholics anonymous"
            r"|in therapy"
            r"|going to therapy|see(?:s|ing)? a counsell?or|relapsed"
        ),
        around=PERSON,
        unless=whole(r"article|film|policy|novel|awareness"),
    ),
)

_ILLNESSES_CN = (
    r"高血压|低血压|高血脂|高血糖|低血糖|糖尿病|心脏病|冠心病|心绞痛|心梗|心肌梗死|中风|脑梗|哮喘"
    r"|肺炎|肺结核|支气管炎|癫痫"
    r"|抑郁症?|躁郁症|双相(?:情感障碍)?|焦虑症|强迫症|精神分裂症?|恐慌症|惊恐发作|失眠症?|自闭症"
    r"|多动症|阅读障碍|老年痴呆"
    r"|阿尔茨海默|帕金森|癌症?|[一-龥]{1,3}癌|肿瘤|白血病|淋巴瘤|乙肝|丙肝|肝炎|肝硬化|脂肪肝"
    r"|肾炎|肾结石|胆结石|尿毒症|痛风"
    r"|甲亢|甲减|甲状腺结节|关节炎|类风湿|腰椎间盘突出|颈椎病|偏头痛|胃炎|胃溃疡|肠易激|克罗恩病"
    r"|湿疹|银屑病|牛皮癣"
    r"|红斑狼疮|贫血|艾滋病?|梅毒|疱疹|青光眼|白内障|色盲|色弱|近视\d{3,4}度|耳鸣|抑郁|厌食症"
    r"|贪食症|酒精依赖|地中海贫血|鼻炎"
    r"|多囊卵巢|子宫肌瘤|子宫内膜异位|前列腺炎|痔疮|带状疱疹|荨麻疹|慢性病|新冠|产后抑郁"
)
_NOT_OF_A_PERSON_CN = (
    r"论文|研究(?!生)|统计|数据集|公益|宣传|科普|电影|纪录片|小说|课程|讲座|新闻|文章|产品|条款"
    r"|页面|服务器|代码|系统|接口|电脑"
    r"|题材|模型|公众号|字段"
)

_CHINESE = (
    Cue(
        r"对(?!开会|上班|周一|加班|代码|早起|工作|会议|数字不|价格)[^，。！？；\n对]{1,12}(?:严重"
        r"|有点|特别|很|会)?过敏"
        r"|(?:花生|海鲜|青霉素|头孢|花粉|尘螨|牛奶|坚果|鸡蛋|酒精|芒果|虾|猫毛|乳胶|食物|药物"
        r"|紫外线)过敏"
        r"|过敏(?:体质|性鼻炎|性休克|史|原)",
        unless=r"不过敏|没有过敏|产品|页面|代码",
        wanted=("过敏",),
    ),
    Cue(r"(?:乳糖|麸质|果糖|酒精|组胺)不耐(?:受|症)?", wanted=("不耐",)),
    Cue(
        r"(?:确诊|诊断)(?:为|出|得了|患有|是|了)?[^，。！？；\n]{0,12}",
        around=PERSON_CN + r"|癌|症|病|瘤|炎",
        unless=r"问题|故障|网络|工具|日志|性能|链路|模式|代码|服务",
        wanted=("确诊", "诊断"),
    ),
    Cue(
        r"(?:患有|患上|患了|患过|得了|得过|查出|查出来|检查出|罹患)[^，。！？；\n]{0,8}(?:病|癌"
        r"|症|炎|瘤|结节|结石|息肉|抑郁)",
        unless=r"服务器|代码|电脑|系统|强迫症似的",
        wanted=("患", "得", "查出"),
    ),
    Cue(
        r"怀孕|怀上|怀着|怀了|孕\d|备孕|流产|小产|预产期|妊娠|试管婴儿|做试管|哺乳期|坐月子|早孕"
        r"|孕(?:早|中|晚)期|刚生完",
        around=rf"(?:{PERSON_CN})|怀孕.{{0,4}}(?:月|周|了)",
        unless=r"怀了疑|怀着.{0,4}(?:心|情|敬|希望|感)|法规|政策|文章|页面|产品|电影|课程|题材",
        wanted=("孕", "怀", "流产", "小产", "预产期", "妊娠", "试管", "哺乳", "月子", "刚生完"),
    ),
    Cue(
        _ILLNESSES_CN,
        before=rf"(?:{PERSON_CN}|有|患|得|是|查出|确诊|治|因为|因|轻度|中度|重度|慢性"
        rf"|遗传)[^，。！？；\n]{{0,8}}$",
        unless=_NOT_OF_A_PERSON_CN,
    ),
    Cue(
        r"血糖|血压|血脂|尿酸|胆固醇|转氨酶|心率|血型",
        around=rf"(?:{PERSON_CN}|最近|医生)[^。]{{0,12}}(?:血|尿酸|胆固醇|转氨酶"
        rf"|心率)[^。]{{0,6}}(?:高|低|型|不稳|[0-9])",
        unless=r"血压计|血糖仪.{0,4}(?:价格|评测)|产品",
    ),
    Cue(
        r"(?:吃|服|服用|在用|注射|打|开了|开的|停了|离不开)[^，。！？；\n]{0,8}(?:药|胰岛素"
        r"|二甲双胍|布洛芬|阿司匹林|激素|抗生素|褪黑素|靶向)"
        r"|服药|吃药|用药中|吸入器|避孕药|安眠药|胰岛素泵|优甲乐|降压药|降糖药|抗抑郁药",
        around=rf"(?:{PERSON_CN})|每天|每晚|一直|长期|正在",
        unless=r"对症下药|药店|后悔药|膏药旗|卖药|吃错药",
        wanted=(
            "药",
            "胰岛素",
            "双胍",
            "布洛芬",
            "阿司匹林",
            "激素",
            "抗生素",
            "褪黑素",
            "靶向",
            "吸入器",
            "优甲乐",
        ),
    ),
    Cue(
        r"残疾|残障|坐轮椅|用轮椅|失明|失聪|听障|视障|弱视|听力(?:障碍|损失|不好|下降)|截肢|假肢"
        r"|助听器|起搏器|瘫痪|偏瘫|聋哑|色盲"
        r"|色弱|拄拐",
        around=PERSON_CN,
        unless=r"无障碍|设施|公益|文章|页面|网络|系统|服务|交通",
    ),
    Cue(
        r"(?:做|动|刚做|要做|准备做|接受)(?:了|过|完)?[^，。！？；\n]{0,10}(?:手术|移植|搭桥|支架"
        r"|切除|剖腹产|剖宫产)"
        r"|(?:在|做|正在|接受)?(?:化疗|放疗|透析)(?:期间|中|后)?|住院|人工流产|堕胎",
        around=rf"(?:{PERSON_CN})|上个?月|去年|今年|刚|昨天|上周",
        unless=r"系统|代码|数据库|护士|医生在|病毒|论文",
        wanted=(
            "手术",
            "移植",
            "搭桥",
            "支架",
            "切除",
            "剖",
            "化疗",
            "放疗",
            "透析",
            "住院",
            "流产",
            "堕胎",
        ),
    ),
    Cue(
        r"(?:看|约了?|找)(?:了|过)?(?:心理医生|精神科|心理咨询师?|肿瘤科|妇科|泌尿科|皮肤科"
        r"|心内科)|自残|自杀(?:过|未遂|倾向|念头)"
        r"|戒酒|戒毒|抑郁(?:发作|倾向)|情绪崩溃|病休|心理治疗",
        around=PERSON_CN,
        unless=r"电影|文章|小说",
        wanted=(
            "心理",
            "精神科",
            "肿瘤科",
            "妇科",
            "泌尿科",
            "皮肤科",
            "心内科",
            "自残",
            "自杀",
            "戒酒",
            "戒毒",
            "抑郁",
            "崩溃",
            "病休",
        ),
    ),
)

HEALTH = Topic("HEALTH", (*_ENGLISH, *_CHINESE))
