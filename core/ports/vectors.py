"""Shapes of vectors."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""Shape (dimension,); unit length."""
Vectors = NDArray[np.float32]
"""Shape (n, dimension); each row of unit length."""
