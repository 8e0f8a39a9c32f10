"""ragkit: did this change make retrieval better?

An evaluation harness for retrieval-augmented generation. `docs/architecture.qmd` is the map of
the package; importing it costs nothing (no torch, no pandas, no model).
"""

__version__ = "0.1.0"
