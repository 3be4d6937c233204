"""Where random draws come from: one generator for each purpose, so that no analysis moves another's."""

import zlib

import numpy as np


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator for `purpose`; the same seed and purpose always draw the same."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
