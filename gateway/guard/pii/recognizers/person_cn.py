"""Chinese names, best effort: a family name and one or two characters, with something that says so.

Rules this module keeps:
- A family name alone is no name: 王 is also a king, 高 also tall. A candidate counts only between
  signs: after 我叫 or 联系人, before 先生 or 老师, after a verb that takes a person (告诉, 加了),
  before one that only a person does (说, 住在), or beside a mark of a list.
- Words of the language that begin like a name (高兴, 方便, 时间) are none.
- No dictionary of words is loaded: it would cost a second and 100 MB, and names are not in it.
"""

import re
from collections.abc import Iterator

from typing_extensions import override

from gateway.guard.pii.recognizer import Recognizer, Span

# The two hundred most frequent family names, and those of two characters.
_SINGLE = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁"
    "魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段漕钱汤尹黎易常武乔"
    "贺赖龚文"
    "庞樊兰殷施陶洪翟安颜倪严牛温芦季俞章鲁葛伍韦申尤毕聂丛焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁时舒"
    "耿牟卜路"
    "詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍位覃霍翁隋植甘景薄单包司柏宁柯阮桂闵解强柴华车冉"
    "房边辜吉"
    "饶刁瞿戚丘古米池滕晋苑邬臧畅宫来嵺苟全褚廉简娄盖符奚木穆党燕郎邸冀谈姬屠连郜晏栾郁商蒙计喻揭"
    "窦迟宇敖"
)
_DOUBLE = (
    "欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|令狐|长孙|慕容|司徒|司空|夏侯|轩辕|端木|百里|南宫"
    "|西门|独孤|宇文"
)
_GIVEN = "[\u4e00-\u9fff]"
# Characters that no given name holds, or hardly any: they begin what follows the name.
_NEVER = (
    "的了是在有和与跟及或也都就还又很不没要会能可把被给对从到向说讲问答叫让请找去来回上下个们这那"
    "哪什怎谁你"
    "我他她它您，。、；：？！吗呢吧啊为于以之其已将住做吃喝买卖写打送收加号钱元年月日时点分岁次位"
    "家公司"
)
_TITLE = (
    "先生|女士|小姐|太太|老师|医生|大夫|教授|律师|经理|主任|总监|总裁|董事|院长|校长|同学|师傅"
    "|阿姨|叔叔|护士|"
    "主管|工程师|警官|法官|会计|博士|老板|教练"
)
_CANDIDATE = (
    rf"(?:(?:{_DOUBLE}){_GIVEN}{{1,2}}?"
    rf"|[{_SINGLE}](?![{_NEVER}]|{_TITLE}){_GIVEN}(?:(?![{_NEVER}]){_GIVEN})??)"
)
_BEFORE = (
    r"(?:我叫|名叫|叫做|叫|姓名|名字|联系人|收件人|收货人|寄件人|负责人|经办人|持卡人|户主|法人"
    r"|代表|患者|病人|客户|用户|"
    r"同事|朋友|同学|室友|邻居|老公|老婆|丈夫|妻子|妈妈|爸爸|儿子|女儿|哥哥|姐姐|弟弟|妹妹|老板"
    r"|领导|经理|医生|老师|"
    r"律师|主任|先生|女士|[我他她你](?:妈|爸|哥|姐|弟|妹|叔|姨|舅|婆|公|奶奶|爷爷)|我是|他是|她是|这是|本人|署名|作者|导师|候选人|员工|学生|告诉|通知"
    r"|联系|提醒|感谢|认识|约了|"
    r"约|见了|拜访|介绍|推荐|嫁给|娶了|加了|转给|发给|寄给|交给|借给|还给|送给|付给|和|与|跟|给"
    r"|找|问|请|帮|让|陪|替|由|"
    r"[,;:、，。：；!！?？\n(\"“「'|/-]|^)"
)
_AFTER = (
    rf"(?:(?:{_TITLE})|说|讲|告诉|认为|觉得|表示|负责|住在|住|的(?:手机|电话|邮箱|微信|身份证"
    rf"|护照|地址|生日|工号|卡|"
    rf"账号|车|家|爸|妈|妻|丈夫|老婆|老公|儿子|女儿|病历|学号|办公室|意见|建议|名字)|加了|约了"
    rf"|今年|出生|生于|来自|毕业|"
    rf"喜欢|不喜欢|讨厌|对|是(?:我|他|她|一|个|公司|项目)|在(?!线)|已经|昨天|今天|明天|上周|下周"
    rf"|打电话|发来|发了|问|"
    rf"也|和|与|跟|把|会|要|要求|希望|建议|同意|确认|预约|预订|下单|投诉|反馈|提交|签"
    rf"|[,;:、，。：；!！?？\n)\"”」'|(/-]|[0-9]|[A-Za-z]|\s|$)"
)
_NAME = re.compile(
    rf"(?P<before>{_BEFORE})(?:是|为|[:： ]){{0,2}}(?P<name>{_CANDIDATE})(?={_AFTER})"
)
_TITLED = re.compile(rf"(?P<name>[{_SINGLE}](?:{_GIVEN}{{0,2}}?))(?={_TITLE})")
_BEGIN_ALIKE = (
    "高兴 高度 高级 高中 高铁 高速 高考 高清 方便 方法 方案 方面 方式 方向 时间 时候 时代 "
    "时期 何时 何况 何必 马上 马路 成功 成为 成本 成绩 成都 成员 成果 常常 常用 常见 常规 "
    "文件 文章 文档 文字 文化 文本 安全 安排 安装 安静 任务 任何 关于 关系 关键 关注 关闭 "
    "关心 全部 全面 全家 向上 计划 计算 单位 单词 单独 来自 来源 连接 连续 简单 简历 强调 "
    "强烈 解决 解释 解析 华为 金额 金融 钱包 白天 白色 黄色 黄金 黄瓜 石头 江苏 江西 安徽 "
    "宁波 广州 武汉 温州 温度 夏天 夏季 程序 程度 张贴 谢谢 万一 万元 施工 路由 路线 路径 "
    "路上 车站 车票 车牌 房间 房子 房屋 边界 边框 古代 古典 吉他 吉林 米饭 池塘 盛大 项目 "
    "曲线 游戏 游泳 严格 严重 牛奶 牛肉 洪水 兰州 龙虾 龙头 史上 秦皇岛 康复 毛巾 毛病 白菜 "
    "田野 金属 陆续 陆地 汤圆 易于 武器 乔木 常州 祝福 祝贺 左右 左边 舒服 管理 管道 莫名 "
    "梅花 季节 季度 章节 温馨 花园 林业 查看 查询 查找 查收 席位 卫生 卫星 欧洲 欧元 童年 "
    "费用 费率 纪念 纪录 于是 余额 余下 水果 姜汁 任意 包括 包含 包装 司机 司法 景点 景色 "
    "商品 商业 商店 商务 商量 符合 符号 木头 党员 郁闷 计时 喻为 连锁 谈话 谈判 迟到 全职 "
    "应该 华东 华南 华北 东方 南方 西方 万事 万能 许多 许可 曾经 曹操 段落 顾客 顾问 范围 "
    "范例 段时间 白酒 红酒 向导 沈阳 郑州 苏州 杭州 洛阳 徐州 常见问题 路过 路口 解读 解除 "
    "解锁 申请 申报 申诉 毕业 毕竟 左侧 右侧 辛苦 邮箱 关联 安卓 管家 甘肃 贾宝玉 孙子 孙女 "
    "黄鹤楼 龙年 马年 牛年 鲁菜 湘菜 贺卡 常识 金价 温水 钟头 田径 任职 任期 成立 成交 成长 "
    "成熟 成人 成分 来访 来电 来信 来往 来不及 简体 简介 简称 关机 关门 关节 计费 计入 单身 "
    "单元 单车 单反 单子 全程 全国 全球 全天 全新 房东 房租 房产 房价 车位 车库 车主 车辆 "
    "路边 路程 万岁 万分 边上 边缘 古董 严肃 游客 游览 白班 白领 白开水 时差 时常 时刻 时尚 "
    "时速 常年 常务 文学 文科 文具 向来 向下 金牌 金色 钱财 石油 石家庄 穆斯林 穆斯"
)
_WORDS = frozenset(_BEGIN_ALIKE.split())


class ChineseNameRecognizer(Recognizer):
    """Reports `PERSON`. Source: the report on names of the Ministry of Public Security, 2021."""

    def __init__(self) -> None:
        super().__init__("PERSON", f"[{_SINGLE}]|{_DOUBLE}")

    @override
    def find(self, text: str) -> Iterator[Span]:
        for pattern, score in ((_NAME, 0.6), (_TITLED, 0.6)):
            at = 0
            while match := pattern.search(text, at):
                name = match["name"]
                if _is_word(name):
                    at = match.start("name") + 1
                    continue
                yield Span(*match.span("name"), score)
                at = match.end("name")


def _is_word(name: str) -> bool:
    return name in _WORDS or name[:2] in _WORDS or name[1:] in _WORDS
