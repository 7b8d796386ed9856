"""WeChat ids.

Rules this module keeps:
- 3 to 20 letters, digits, - and _, a letter first, right after 微信, wechat, wx or vx; a mobile
  number beside these is a telephone number.
- A word alone needs 号, "id" or a colon before it: "wechat payment" and "微信group" name nothing.
"""

from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = r"微信号?|薇信|威信号|v信|微 ?x|wechat|weixin|wx|vx"
_VALUE = (
    r"(?:(?<=[号id:是为])|(?<=[号id:是为] )|(?=[a-z_-]{0,19}[0-9_-]))(?!group|payment|pay\b"
    r"|moments?)[a-z][a-z0-9_-]{2,19}"
)


class WechatRecognizer(AnnouncedRecognizer):
    """Reports `WECHAT_ID`. Source: Tencent WeChat."""

    def __init__(self) -> None:
        super().__init__("WECHAT_ID", _NAMES, _VALUE, sign="[A-Za-z]")
