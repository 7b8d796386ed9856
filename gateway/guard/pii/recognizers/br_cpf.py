"""CPF numbers of Brazil.

Rules this module keeps:
- Eleven digits with two right check digits; as 000.000.000-00 by its shape, else beside a word.
"""

from stdnum.br import cpf

from gateway.guard.pii.shaped import ShapedRecognizer

_SAID = r"cpf|cadastro"


class CpfRecognizer(ShapedRecognizer):
    """Reports `BR_CPF`. Source: Brazil, Receita Federal."""

    def __init__(self) -> None:
        super().__init__(
            "BR_CPF",
            (
                r"(?<![0-9A-Za-z])(?<![0-9][-.])[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}(?![0-9A-Za-z]"
                r"|[-.][0-9])|(?<![0-9A-Za-z.+-])[0-9]{11}(?![0-9A-Za-z]|[-.][0-9])"
            ),
            said=_SAID,
            check=cpf.validate,
        )
