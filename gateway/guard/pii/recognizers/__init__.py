"""Our recognizers, one kind of personal data a file."""

from gateway.guard.pii.recognizer import Recognizer
from gateway.guard.pii.recognizers.address_cn import ChineseAddressRecognizer
from gateway.guard.pii.recognizers.address_street import StreetAddressRecognizer
from gateway.guard.pii.recognizers.address_written import WrittenAddressRecognizer
from gateway.guard.pii.recognizers.age import AgeRecognizer
from gateway.guard.pii.recognizers.alipay import AlipayRecognizer
from gateway.guard.pii.recognizers.au_abn import AbnRecognizer
from gateway.guard.pii.recognizers.au_acn import AcnRecognizer
from gateway.guard.pii.recognizers.au_medicare import MedicareRecognizer
from gateway.guard.pii.recognizers.au_tfn import TfnRecognizer
from gateway.guard.pii.recognizers.bank_account import BankAccountRecognizer
from gateway.guard.pii.recognizers.birth import BirthRecognizer
from gateway.guard.pii.recognizers.br_cpf import CpfRecognizer
from gateway.guard.pii.recognizers.ca_sin import SinRecognizer
from gateway.guard.pii.recognizers.card import CardRecognizer
from gateway.guard.pii.recognizers.crypto import CryptoRecognizer
from gateway.guard.pii.recognizers.date_time import DateRecognizer
from gateway.guard.pii.recognizers.de_id_card import GermanIdCardRecognizer
from gateway.guard.pii.recognizers.de_tax_id import GermanTaxIdRecognizer
from gateway.guard.pii.recognizers.driver_license import DriverLicenseRecognizer
from gateway.guard.pii.recognizers.email import EmailRecognizer
from gateway.guard.pii.recognizers.es_nif import NifRecognizer
from gateway.guard.pii.recognizers.fi_hetu import HetuRecognizer
from gateway.guard.pii.recognizers.fr_nir import NirRecognizer
from gateway.guard.pii.recognizers.hk_id import HongKongIdRecognizer
from gateway.guard.pii.recognizers.iban import IbanRecognizer
from gateway.guard.pii.recognizers.id_number import IdNumberRecognizer
from gateway.guard.pii.recognizers.imei import ImeiRecognizer
from gateway.guard.pii.recognizers.in_aadhaar import AadhaarRecognizer
from gateway.guard.pii.recognizers.in_pan import PanRecognizer
from gateway.guard.pii.recognizers.ip import IpRecognizer
from gateway.guard.pii.recognizers.it_fiscal_code import FiscalCodeRecognizer
from gateway.guard.pii.recognizers.jp_my_number import MyNumberRecognizer
from gateway.guard.pii.recognizers.kr_rrn import RrnRecognizer
from gateway.guard.pii.recognizers.mac import MacRecognizer
from gateway.guard.pii.recognizers.medical_id import MedicalIdRecognizer
from gateway.guard.pii.recognizers.nationality import NationalityRecognizer
from gateway.guard.pii.recognizers.nl_bsn import BsnRecognizer
from gateway.guard.pii.recognizers.organization import OrganizationRecognizer
from gateway.guard.pii.recognizers.passport import PassportRecognizer
from gateway.guard.pii.recognizers.person_cn import ChineseNameRecognizer
from gateway.guard.pii.recognizers.person_en import LatinNameRecognizer
from gateway.guard.pii.recognizers.phone import PhoneRecognizer
from gateway.guard.pii.recognizers.pl_pesel import PeselRecognizer
from gateway.guard.pii.recognizers.place import PlaceRecognizer
from gateway.guard.pii.recognizers.plate import PlateRecognizer
from gateway.guard.pii.recognizers.qq import QqRecognizer
from gateway.guard.pii.recognizers.resident_id import ResidentIdRecognizer
from gateway.guard.pii.recognizers.se_personnummer import PersonnummerRecognizer
from gateway.guard.pii.recognizers.sg_nric import NricRecognizer
from gateway.guard.pii.recognizers.sg_uen import UenRecognizer
from gateway.guard.pii.recognizers.ssn import SsnRecognizer
from gateway.guard.pii.recognizers.ssn_itin import ItinRecognizer
from gateway.guard.pii.recognizers.tax_id import TaxIdRecognizer
from gateway.guard.pii.recognizers.tr_tckn import TcknRecognizer
from gateway.guard.pii.recognizers.travel_permit import TravelPermitRecognizer
from gateway.guard.pii.recognizers.tw_id import TaiwanIdRecognizer
from gateway.guard.pii.recognizers.uk_nhs import NhsRecognizer
from gateway.guard.pii.recognizers.uk_nino import NinoRecognizer
from gateway.guard.pii.recognizers.url import UrlRecognizer
from gateway.guard.pii.recognizers.us_mbi import MbiRecognizer
from gateway.guard.pii.recognizers.us_npi import NpiRecognizer
from gateway.guard.pii.recognizers.uscc import SocialCreditRecognizer
from gateway.guard.pii.recognizers.username import UsernameRecognizer
from gateway.guard.pii.recognizers.wechat import WechatRecognizer


def every_recognizer() -> tuple[Recognizer, ...]:
    """Return a recognizer of each kind."""
    return (
        ChineseAddressRecognizer(),
        StreetAddressRecognizer(),
        AlipayRecognizer(),
        AbnRecognizer(),
        AcnRecognizer(),
        MedicareRecognizer(),
        TfnRecognizer(),
        BankAccountRecognizer(),
        BirthRecognizer(),
        CpfRecognizer(),
        SinRecognizer(),
        CardRecognizer(),
        CryptoRecognizer(),
        GermanIdCardRecognizer(),
        GermanTaxIdRecognizer(),
        DriverLicenseRecognizer(),
        EmailRecognizer(),
        NifRecognizer(),
        HetuRecognizer(),
        NirRecognizer(),
        HongKongIdRecognizer(),
        IbanRecognizer(),
        IdNumberRecognizer(),
        ImeiRecognizer(),
        AadhaarRecognizer(),
        PanRecognizer(),
        IpRecognizer(),
        FiscalCodeRecognizer(),
        MyNumberRecognizer(),
        RrnRecognizer(),
        MacRecognizer(),
        MedicalIdRecognizer(),
        BsnRecognizer(),
        PassportRecognizer(),
        ChineseNameRecognizer(),
        LatinNameRecognizer(),
        PhoneRecognizer(),
        PeselRecognizer(),
        PlateRecognizer(),
        QqRecognizer(),
        ResidentIdRecognizer(),
        PersonnummerRecognizer(),
        NricRecognizer(),
        UenRecognizer(),
        SsnRecognizer(),
        ItinRecognizer(),
        TaxIdRecognizer(),
        TcknRecognizer(),
        TravelPermitRecognizer(),
        TaiwanIdRecognizer(),
        NhsRecognizer(),
        NinoRecognizer(),
        MbiRecognizer(),
        NpiRecognizer(),
        SocialCreditRecognizer(),
        WechatRecognizer(),
        UsernameRecognizer(),
        UrlRecognizer(),
        PlaceRecognizer(),
        OrganizationRecognizer(),
        NationalityRecognizer(),
        DateRecognizer(),
        AgeRecognizer(),
        WrittenAddressRecognizer(),
    )
