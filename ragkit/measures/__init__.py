"""The measures: pure functions from rankings and labels to numbers. No model, no database, no file.

`Scorer` scores one question, `summarise` a run; the modules below have one idea each, with its formula.
"""

from ragkit.measures.contract import CONTRACT, MEASURES
from ragkit.measures.scorecard import QuestionScore, Scorer
from ragkit.measures.summary import (
    TieExposure,
    count_losses,
    coverable_share,
    leave_out_unreached,
    summarise,
    summarise_by_type,
    tie_exposure,
)

__all__ = [
    "CONTRACT",
    "MEASURES",
    "QuestionScore",
    "Scorer",
    "TieExposure",
    "count_losses",
    "coverable_share",
    "leave_out_unreached",
    "summarise",
    "summarise_by_type",
    "tie_exposure",
]
