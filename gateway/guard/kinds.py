"""The kinds of personal data that a policy decides on.

Rules this module keeps:
- Identifiers are told by a shape, a check digit or the word before them, and always looked for.
- Best-effort kinds are told by their surroundings and are missed often; they are looked for only
  where a policy does more with them than let them through.
- Topics label a memory and are always looked for; what is said stays, unless a policy names them.
- Names follow Presidio's where it has the kind.
"""

IDENTIFIERS = frozenset(
    {
        "ALIPAY_ID",
        "AU_ABN",
        "AU_ACN",
        "AU_MEDICARE",
        "AU_TFN",
        "BANK_ACCOUNT",
        "BR_CPF",
        "CA_SIN",
        "CN_LICENSE_PLATE",
        "CN_RESIDENT_ID",
        "CN_SOCIAL_CREDIT_CODE",
        "CN_TRAVEL_PERMIT",
        "CREDIT_CARD",
        "CRYPTO_WALLET",
        "DE_ID_CARD",
        "DE_TAX_ID",
        "DRIVER_LICENSE",
        "EMAIL_ADDRESS",
        "ES_NIF",
        "FI_PERSONAL_IDENTITY_CODE",
        "FR_NIR",
        "HK_ID",
        "IBAN_CODE",
        "ID_NUMBER",
        "IMEI",
        "IN_AADHAAR",
        "IN_PAN",
        "IP_ADDRESS",
        "IT_FISCAL_CODE",
        "JP_MY_NUMBER",
        "KR_RRN",
        "MAC_ADDRESS",
        "MEDICAL_ID",
        "NL_BSN",
        "PASSPORT",
        "PHONE_NUMBER",
        "PL_PESEL",
        "QQ",
        "SE_PERSONNUMMER",
        "SG_NRIC_FIN",
        "SG_UEN",
        "TAX_ID",
        "TR_NATIONAL_ID",
        "TW_ID",
        "UK_NHS",
        "UK_NINO",
        "USERNAME",
        "US_ITIN",
        "US_MBI",
        "US_NPI",
        "US_SSN",
        "WECHAT_ID",
    }
)

BEST_EFFORT = frozenset(
    {
        "ADDRESS",
        "AGE",
        "DATE_OF_BIRTH",
        "DATE_TIME",
        "LOCATION",
        "NRP",
        "ORGANIZATION",
        "PERSON",
        "URL",
    }
)

MODEL_KINDS = frozenset({"LOCATION", "NRP", "ORGANIZATION", "PERSON"})
"""Best-effort kinds that a language model tells too, where one is set."""

SPECIAL_TOPICS = frozenset({"BELIEF", "HEALTH"})
"""What a person says of themselves and wants remembered."""

SENSITIVE_TOPICS = frozenset({"BIOMETRIC", "FINANCE", "MINOR", "PRECISE_LOCATION"})
"""What should not be kept for long."""

TOPICS = SPECIAL_TOPICS | SENSITIVE_TOPICS

HIDDEN_TEXT = "HIDDEN_TEXT"
"""Text in code points nobody sees."""

KINDS = IDENTIFIERS | BEST_EFFORT | TOPICS | {HIDDEN_TEXT}
