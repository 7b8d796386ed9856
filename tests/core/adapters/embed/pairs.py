"""Made-up questions with the passages that answer them, for the calibration of an embedder.

Each pair has a topic; two pairs of one topic are never taken for unrelated.
"""

PAIRS: list[tuple[str, str, str]] = [
    (
        "home",
        "Where does she live now?",
        "Since April she has been living in Lisbon, by the river.",
    ),
    (
        "allergy",
        "Is the user allergic to anything?",
        "He reacts badly to peanuts and has an injector.",
    ),
    ("pet", "What is the name of her cat?", "Her cat is called Mimi and it is twelve years old."),
    ("coffee", "Which coffee does he like?", "He drinks a latte with oat milk every morning."),
    (
        "deadline",
        "When is the project due?",
        "The report has to be delivered by the ninth of October.",
    ),
    (
        "language",
        "What language should I answer in?",
        "Please reply to me in Spanish whenever possible.",
    ),
    ("lead", "Who manages the team?", "Priya has led the payments team since last year."),
    (
        "deploy",
        "How do we deploy the service?",
        "Releases go out on Tuesdays with the blue-green script.",
    ),
    (
        "fault",
        "What went wrong in the migration?",
        "It failed because the disk of the replica was full.",
    ),
    ("children", "Does he have children?", "He has two daughters, aged four and seven."),
    (
        "purchase",
        "What does the client want to buy?",
        "The client is looking for a used electric bicycle.",
    ),
    (
        "seat",
        "Which seat does she prefer on flights?",
        "On planes she always asks for an aisle seat.",
    ),
    (
        "music",
        "What music does the user enjoy?",
        "She listens to jazz records almost every evening.",
    ),
    ("school", "Where did he study?", "He graduated from the technical university in Delft."),
    ("diet", "Does she eat meat?", "She has been a vegetarian since her twenties."),
    ("sport", "How does he keep fit?", "Three times a week he swims a kilometre before work."),
    ("editor", "Which editor should the snippets be for?", "All of my coding happens in Neovim."),
    ("budget", "How much may the trip cost?", "They want to spend at most two thousand euros."),
    ("car", "What car does the family drive?", "Their car is a ten-year-old grey station wagon."),
    (
        "sleep",
        "When should nobody call?",
        "Do not ring me after nine in the evening, I sleep early.",
    ),
    ("home", "他住在哪里?", "我搬到北京朝阳区已经三年了。"),
    ("allergy", "用户对什么过敏?", "我吃花生会过敏,严重的时候要去医院。"),
    ("pet", "她的猫叫什么名字?", "家里那只橘猫名叫咪咪。"),
    ("coffee", "他喜欢喝什么?", "他现在每天早上喝拿铁,不喝美式了。"),
    ("deadline", "会议是什么时候?", "周四下午三点在二楼开项目评审会。"),
    ("job", "用户从事什么工作?", "我在一家医院做儿科护士。"),
    ("deploy", "部署服务的步骤是什么?", "上线前先跑回归测试,再用蓝绿脚本发布。"),
    ("fault", "上次迁移为什么失败?", "因为从库磁盘写满,数据库迁移中断了。"),
    ("children", "他有孩子吗?", "他有两个女儿,一个四岁一个七岁。"),
    ("budget", "客户的预算是多少?", "客户说总预算不超过八万元。"),
    ("music", "用户爱听什么音乐?", "她几乎每天晚上都听爵士唱片。"),
    ("school", "他在哪里上的大学?", "他毕业于浙江大学计算机系。"),
    ("diet", "她吃肉吗?", "她从二十多岁起就一直吃素。"),
    ("sport", "他平时怎么锻炼?", "他每周三次下班后去游泳一公里。"),
    ("car", "家里开什么车?", "他们开一辆十年的灰色旅行车。"),
    ("sleep", "什么时间不要打电话?", "晚上九点以后别给我打电话,我睡得早。"),
    ("home", "Where does the user live?", "我住在上海浦东新区。"),
    ("music", "用户喜欢什么音乐?", "In the evenings he mostly plays old blues records."),
    ("job", "What does he do for a living?", "他是一名中学物理老师。"),
    ("seat", "订机票时选什么座位?", "When flying she wants to sit by the window."),
]
