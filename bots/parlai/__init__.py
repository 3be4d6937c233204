"""ParlAI: the paper's five architectures, how they are trained and how they are loaded.

Importing this package makes ParlAI fit for today's setuptools and torch, so everything that needs it goes
through here.
"""

import os
import sys
import warnings
from importlib.util import find_spec
from types import ModuleType

if find_spec("parlai") is None:
    raise ModuleNotFoundError(
        "ParlAI is not installed here. In a checkout: make install-models.",
        name="parlai",
    )
os.environ.setdefault("TQDM_DISABLE", "1")  # ParlAI's own progress bars would run into ours
warnings.filterwarnings("ignore", "size_average and reduce args", UserWarning)  # ParlAI's, of torch
if find_spec("pkg_resources") is None:
    # It left setuptools with version 81. ParlAI imports it for the presets of its own commands alone.
    sys.modules["pkg_resources"] = ModuleType("pkg_resources")
