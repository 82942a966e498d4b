"""Linear algebra in one thread, which has to be said before NumPy is imported.

Matrices are small here, and threads that wait for each other on a busy machine take a hundred times
as long.
"""

from __future__ import annotations

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
