"""What has to be known of a model beside its weights."""

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """One model, as its card and its calibration describe it.

    Args:
        name: under which its vectors are kept, and by which an endpoint knows it.
        dimension: of its vectors.
        floor, ceiling: cosines of this model that mean unrelated and same. The defaults suit no
            model in particular; measure yours on pairs of your own.
        max_tokens: that it shall read of one text.
        question_mark, passage_mark: the words before a text with which it was trained.
    """

    name: str
    dimension: int
    floor: float = 0.2
    ceiling: float = 0.8
    max_tokens: int = 256
    question_mark: str = ""
    passage_mark: str = ""

    @classmethod
    def of(cls, name: str, dimension: int) -> Self:
        """Return what a name tells: the marks and the cosines of the e5 family, or the defaults.

        Source: the model cards of intfloat/e5 and intfloat/multilingual-e5 ("query: ",
        "passage: "; cosines lie between 0.7 and 1).
        """
        if "e5" not in name.rpartition("/")[2].lower().split("-"):
            return cls(name=name, dimension=dimension)
        return cls(
            name=name,
            dimension=dimension,
            floor=0.75,
            ceiling=0.91,
            question_mark="query: ",
            passage_mark="passage: ",
        )
