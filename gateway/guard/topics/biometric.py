"""Biometric and genetic data: a person's fingerprint, face, iris, voice or DNA as data.

Rules this module keeps:
- It counts when it is somebody's, or when it is a template written out. The fingerprint of a key,
  a browser or a commit is none, and neither is what is in a team's DNA.

Source: GDPR, articles 4(13), 4(14) and 9(1).
"""

from gateway.guard.topics.people import OWNERS, PERSON, PERSON_CN
from gateway.guard.topics.topic import Cue, Topic, whole

_MACHINES = whole(
    r"tls|ssl|ssh|gpg|pgp|x\.?509|browser|certificates?|cert|commit|device fingerprint|key|canvas"
    r"|audio fingerprint"
    r"|docker|http|ja3|javascript|script|file fingerprint|build|support(?:s|ed)?|api|library"
    r"|feature|sensor|android|ios|reader"
    r"|poker|team['’]?s|company['’]?s|our company|culture|brand|books?|novel|documentary|film"
    r"|conference|works? (?:for|at|in)"
)
_PARTS = (
    r"finger-?prints?|thumb-?prints?|palm[- ]?prints?|face (?:embedding|template|scan|print"
    r"|geometry|vector|data)|faceprint"
    r"|facial (?:features|data|scan|geometry|template|recognition (?:data|template))|iris(?: scan"
    r"| template)?|irises"
    r"|retinas?(?:l)?(?: scan)?|voice-?prints?|voice template|hand geometry|vein pattern|genomes?"
    r"|dna(?: sample"
    r"| sequence| profile| test| data)?|biometrics?(?: data)?|genetic (?:test|data|profile"
    r"|results|code|makeup)"
    r"|genes|23andme(?: results)?|ancestry ?dna(?: results)?|gait (?:data|profile)"
)

_ENGLISH = (
    Cue(
        whole(_PARTS),
        before=rf"(?:{whole(OWNERS)}|{whole('the user')})(?: [a-z0-9'’-]{{2,12}}){{0,3}}"
        rf" $",
        unless=_MACHINES
        + r"|(?:part of|in) (?:my|our|his|her|their)(?: [a-z'’]{2,12}){0,2} (?:dna|genes)",
    ),
    Cue(
        rf"{whole(_PARTS)}(?: [a-z]{{1,10}}){{0,3}} of (?:me|him|them|mine"
        rf"|my [a-z]{{3,12}})(?![a-z])",
        unless=_MACHINES,
        wanted=(
            "print",
            "face",
            "facial",
            "iris",
            "retina",
            "voice",
            "vein",
            "genome",
            "dna",
            "biometric",
            "genetic",
        ),
    ),
    Cue(
        r"(?<![a-z])(?:face|facial|voice|speaker|iris|finger-?print|palm|retina) (?:embedding"
        r"|template|vector|encoding"
        r"|descriptor|minutiae)s?(?: (?:is|was|are|of|for"
        r"|[a-z]{3,10})){0,3}[ :=]{1,3}[\[(]?(?:-?[0-9]\.[0-9]{2}|[0-9a-f]{8})",
        wanted=("embedding", "template", "vector", "encoding", "descriptor", "minutiae"),
    ),
    Cue(
        r"(?<![a-z])(?:rs[0-9]{4,10}|brca[12]|apoe(?:4| ?[eε]4)?|mthfr|factor v leiden|(?:the "
        r"|a )?(?:[a-z]{3,12} ){0,2}"
        r"(?:gene|mutation|variant))(?![a-z0-9])",
        around=rf"(?:{PERSON})[^.]{{0,40}}(?:heterozygous|homozygous|carr(?:y|ies|ier)|mutation"
        rf"|positive|tested|inherited"
        r"|results|genotype|variant|have|has)",
        unless=whole(
            r"product|schema|code|page|build|configuration|rows?|state|graphql|test variant|lab"
            r"|button|discovery|feature"
        ),
        wanted=("rs", "brca", "apoe", "mthfr", "leiden", "gene", "mutation", "variant"),
    ),
    Cue(
        r"(?<![a-z])(?:(?:dna|ancestry|paternity|genetic) tests?|(?:exome|genome"
        r"|dna) sequenc(?:ing|ed)|whole genome"
        r"|carrier screening)(?![a-z])",
        around=PERSON,
        unless=whole(r"lab|article|documentary|book|film|company sells|price|works"),
        wanted=("test", "sequenc", "genome", "screening"),
    ),
    Cue(
        r"(?<![A-Za-z])[ACGT]{16,400}(?![A-Za-z])",
        around=r"dna|genom|sequence|genotyp|基因|序列",
        wanted=("dna", "genom", "sequence", "genotyp", "基因", "序列"),
        exact=True,
    ),
)

_MACHINES_CN = (
    r"证书|浏览器|支持|应用|手机|模块|公司的?基因|开源|脚本|公钥|密钥|提交|接口|纪录片|小说|上班"
    r"|股票|坏了|设备指纹|品牌"
)
_PARTS_CN = (
    r"指纹|掌纹|人脸|面部|脸部|面容|虹膜|视网膜|声纹|指静脉|静脉|DNA|dna|基因组?|步态|生物识别"
)

_WANTED_CN = (
    "指纹", "掌纹", "脸", "面", "虹膜", "视网膜", "声纹", "静脉", "dna", "基因", "步态", "生物识别",
)  # fmt: skip
"""A text without any of these holds none of `_PARTS_CN`."""

_CHINESE = (
    Cue(
        rf"(?:{_PARTS_CN})(?:识别)?(?:的)?(?:特征|模板|向量|数据|信息|图像|样本|序列|图谱|编码"
        rf"|扫描|照片|识别码|密码|解锁记录)",
        around=rf"(?:{PERSON_CN})|[0-9a-f]{{8}}|-?0\.[0-9]{{2}}|[ACGT]{{10}}",
        unless=_MACHINES_CN,
        wanted=_WANTED_CN,
    ),
    Cue(
        rf"(?:录|采集|登记|提取|采|扫|刷|存|留|上传|绑定)(?:入|了|过|制|集)?(?:过|了)?(?:我的"
        rf"|他的|她的|本人)?[^，。！？；\n]{{0,4}}(?:{_PARTS_CN})"
        rf"|(?:{_PARTS_CN})[^。！？；\n]{{0,8}}(?:录|采集|登记|提取|存)(?:入|了|过|好|制|在)?",
        around=PERSON_CN,
        unless=_MACHINES_CN,
        wanted=_WANTED_CN,
    ),
    Cue(
        r"基因(?:检测|测序|筛查)|基因携带者|携带[^，。！？；\n]{0,10}基因|(?:BRCA[12]|APOE4?"
        r"|基因)[^，。！？；\n]{0,4}(?:突变|阳性|变异)|亲子鉴定"
        r"|DNA(?:检测|鉴定|比对|测试|样本)|祖源(?:检测|分析|结果)|全基因组",
        around=PERSON_CN,
        unless=_MACHINES_CN + r"|论文|新闻|这本书|课程",
        wanted=("基因", "brca", "apoe", "亲子鉴定", "dna", "祖源"),
    ),
)

BIOMETRIC = Topic("BIOMETRIC", (*_ENGLISH, *_CHINESE))
