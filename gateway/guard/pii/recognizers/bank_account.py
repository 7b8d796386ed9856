"""Numbers of bank accounts, and the routing numbers beside them.

Rules this module keeps:
- 6 to 20 digits right after the words; four are enough after "ending in".
- A card's number is a card whatever the sentence calls it.
"""

from gateway.guard.pii.shaped import AnnouncedRecognizer

_NAMES = (
    r"(?:bank|checking|chequing|savings|current|deposit|salary|payroll|brokerage"
    r"|wire)[ -]accounts?|account (?:numbers?|no\.?|details)|accounts?(?= ?(?:#|no\b|num|ending"
    r"|[0-9]{6}))"
    r"|acct\.?|a/c"
    r"|routing|aba(?: number)?|sort[ -]code|bsb|ifsc|clabe|bank ?(?:no|number)|iban|swift|账号"
    r"|帐号|账户|帐户|賬號|賬戶|帳號|银行账|对公账|收款账|口座番号|kontonummer|konto"
)
_VALUE = (
    r"[a-z]{0,4}[0-9](?:[ -]?[0-9]){5,21}[a-z]?|(?<=ending in )[0-9]{4}|(?<=ending with )[0-9]{4}"
    r"|[0-9]{2}-[0-9]{2}-[0-9]{2}|[a-z]{4}0[a-z0-9]{6}"
)


class BankAccountRecognizer(AnnouncedRecognizer):
    """Reports `BANK_ACCOUNT`. Source: ABA routing number policy; UK sort codes; RBI IFSC."""

    def __init__(self) -> None:
        super().__init__("BANK_ACCOUNT", _NAMES, _VALUE)
