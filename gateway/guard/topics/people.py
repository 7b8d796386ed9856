"""Words for people, by which a topic is somebody's: in English and in Chinese."""

from gateway.guard.topics.topic import whole

RELATIVES = (
    r"mom|mum|mother|dad|father|parents?|wife|husband|spouse|partner|boyfriend|girlfriend"
    r"|fianc[eé]{1,2}"
    r"|sons?|daughters?|brothers?|sisters?|siblings?|kids?|child|children|baby|twins?|nephew|niece"
    r"|grand(?:ma|pa|mother|father|son|daughter|parents|child|children)|aunt|uncle|cousin|friend"
    r"|colleague|roommate|flatmate|boss|neighbou?r|family|mother-in-law|father-in-law"
)
OWNERS = r"my|our|his|her|their|the user's|user's|[a-z]{2,12}['’]s"
PERSON = whole(
    r"i|i['’](?:m|ve|d|ll)|my|me|mine|we|we['’](?:re|ve)|our|us|he|he['’]s|him|his|she|she['’]s"
    r"|her|hers"
    rf"|they|they['’]re|their|them|the user|user|users['’]s|{RELATIVES}"
)
"""Somebody, in English."""

PERSON_CN = (
    r"我|(?<!其)他|她|咱|俺|本人|自己|用户|爸|妈|父|母|爷|奶奶|外公|外婆|姥|老公|老婆|丈夫|妻子"
    r"|太太|媳妇|对象|男友|女友"
    r"|男朋友|女朋友|儿子|女儿|孩子|宝宝|闺女|哥|姐|弟|妹|叔|姨|姑|舅|侄|外甥|孙|同事|朋友|室友"
    r"|邻居|同学|客户|患者"
    r"|小[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马]|老[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马]"
)
"""Somebody, in Chinese."""
