"""Candidate against baseline: paired differences, what they prove, and a verdict by the policy.

`read_metrics` and `pair` refuse what does not compare; `compare` does the rest. One idea per module.
"""

from ragkit.comparison.compare import compare
from ragkit.comparison.detectable import Headroom, headroom
from ragkit.comparison.evaluation import Metrics, read_metrics, read_timing
from ragkit.comparison.holm import holm
from ragkit.comparison.model import Comparison
from ragkit.comparison.paired import Split, check_comparable
from ragkit.comparison.policy import Policy, read_policy

__all__ = [
    "Comparison",
    "Headroom",
    "Metrics",
    "Policy",
    "Split",
    "check_comparable",
    "compare",
    "headroom",
    "holm",
    "read_metrics",
    "read_policy",
    "read_timing",
]
