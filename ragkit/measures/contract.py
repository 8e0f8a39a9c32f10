"""What every number here was computed under; stands in every report, and two contracts never compare."""

from __future__ import annotations

from typing import Any, Final

RECALL_CUTOFFS: Final = (1, 5, 10)
RANK_CUTOFF: Final = 10
"""Of MRR and nDCG, and the least depth a ranking is judged to."""
EVIDENCE_CUTOFF: Final = 5
TOKEN_BUDGETS: Final = (1000, 2000, 4000)

RECALLS: Final = tuple(f"Recall@{k}" for k in RECALL_CUTOFFS)
BUDGET_RECALLS: Final = tuple(f"Recall@{budget}tok" for budget in TOKEN_BUDGETS)
EVIDENCE: Final = (f"EvidenceRecall@{EVIDENCE_CUTOFF}", f"EvidencePrecision@{EVIDENCE_CUTOFF}")
MRR: Final = "MRR"
NDCG: Final = f"nDCG@{RANK_CUTOFF}"

MEASURES: Final = (*RECALLS, MRR, NDCG, *EVIDENCE, *BUDGET_RECALLS)
"""Every measure's name, in the order in which they are shown."""

CONTRACT: Final[dict[str, Any]] = {
    "coverage": "coverage-1",
    "credit": "a judgment (group) once, at its first covering hit",
    "cutoffs": {
        "evidence": EVIDENCE_CUTOFF,
        "mrr": RANK_CUTOFF,
        "ndcg": RANK_CUTOFF,
        "recall": list(RECALL_CUTOFFS),
        "tokens": list(TOKEN_BUDGETS),
    },
    "duplicates": "a later hit that covers a credited judgment counts as not relevant",
    "gain": "grade",
    "interval": "95 %, percentile bootstrap of whole questions; Wilson when n < 30 or all values are equal",
    "log_base": 2,
    "mean": "arithmetic, over every judged question",
    "missing_questions": "score 0",
    "tie_rule": "score descending, slug, chunk start",
    "unjudged_questions": "own group, never averaged in",
}
"""Plain JSON. The unit (passage or document) stands in the configuration."""
