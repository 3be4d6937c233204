"""One random generator for each purpose, so that no analysis changes another's draws."""

import zlib

import numpy as np


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the generator for `purpose`; the same seed and purpose always draw the same."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
