"""Cuts text into the words of the lexical index; texts and queries are cut alike.

Rules this module keeps:
- It reads only canonical text (the gateway's one normaliser is handed in), so that two spellings
  of a word are one word here, in deduplication and in every scanner.
- Latin words and numbers are split where letters meet digits and at underscores, so that `lab2`
  finds `Lab 2` and `redirect_uri` is found inside Chinese text.
- Chinese, Japanese and Korean runs give every character and every pair of neighbours: no
  dictionary, hence no word that a dictionary does not know.
"""

import re
from collections.abc import Callable

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f"
_RUN = re.compile(rf"[{_CJK}]+|[^\W\d_{_CJK}]+|\d+")

MAX_WORDS = 20_000
"""A text of 32,768 characters of Chinese gives some 65,000; beyond this bound words are dropped."""

_STOP = frozenset(
    re.findall(
        r"\S+",
        "a an the of to in on at is are was were be been am do does did and or for with my your "
        "his her its our their i you he she it we they me this that as by from "
        "的 了 是 在 我 你 他 她 它 和 与 吗 呢 吧 啊",
    )
)
"""Words so common that they carry cost and no evidence; they are dropped on both sides."""


class Lexicon:
    """The `Tokenizer` port.

    Args:
        canonical: the gateway's canonical spelling: NFKC, case folded, blanks collapsed.
    """

    def __init__(self, canonical: Callable[[str], str]) -> None:
        self._canonical = canonical

    def canonical(self, text: str) -> str:
        """Return the spelling under which two texts count as the same."""
        return self._canonical(text)

    def words(self, text: str) -> list[str]:
        """Return the words of `text` in order, repeats included, at most `MAX_WORDS`."""
        words: list[str] = []
        for match in _RUN.finditer(self._canonical(text)):
            run = match.group()
            if _is_cjk(run[0]):
                words.extend(char for char in run if char not in _STOP)
                words.extend(run[i : i + 2] for i in range(len(run) - 1))
            elif run not in _STOP:
                words.append(_stem(run))
            if len(words) >= MAX_WORDS:
                return words[:MAX_WORDS]
        return words


def _is_cjk(char: str) -> bool:
    return re.match(rf"[{_CJK}]", char) is not None


_SHORTEST_STEM = 3


def _stem(word: str) -> str:
    """Fold an English plural onto its singular.

    Only plurals: a heavier stemmer confuses names and codes, which are what memories are asked for.
    """
    if not word.isascii() or len(word) <= _SHORTEST_STEM or not word.endswith("s"):
        return word
    if word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST_STEM + 1:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "zes", "sses")):
        return word[:-2]
    return word[:-1]
