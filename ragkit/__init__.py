"""ragkit: did this change make retrieval better?

An evaluation harness for retrieval-augmented generation. `docs/architecture.qmd` is the map of
the package; importing it costs nothing (no torch, no pandas, no model).
"""

import os

# onnxruntime 1.29 and later report every session to their maker, from native code that no test with blocked sockets
# sees, and leave a device's id in the home folder. It reads this once, when it is imported by whatever comes first.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__version__ = "0.1.0"
