"""Our recognizers, one kind of personal data a file."""

from gateway.guard.pii.recognizer import Recognizer
from gateway.guard.pii.recognizers.card import CardRecognizer
from gateway.guard.pii.recognizers.email import EmailRecognizer
from gateway.guard.pii.recognizers.iban import IbanRecognizer
from gateway.guard.pii.recognizers.ip import IpRecognizer
from gateway.guard.pii.recognizers.phone import PhoneRecognizer
from gateway.guard.pii.recognizers.resident_id import ResidentIdRecognizer
from gateway.guard.pii.recognizers.ssn import SsnRecognizer


def every_recognizer() -> tuple[Recognizer, ...]:
    """Return a recognizer of each kind."""
    return (
        CardRecognizer(),
        EmailRecognizer(),
        IbanRecognizer(),
        IpRecognizer(),
        PhoneRecognizer(),
        ResidentIdRecognizer(),
        SsnRecognizer(),
    )
