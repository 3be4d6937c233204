"""ParlAI: the paper's five architectures, how they are trained and how they are loaded.

Importing this package makes ParlAI compatible with current setuptools and torch, so all code that uses ParlAI
must import it first.
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
os.environ.setdefault("TQDM_DISABLE", "1")  # ParlAI's own progress bars would mix with ours
warnings.filterwarnings("ignore", "size_average and reduce args", UserWarning)  # ParlAI's, of torch
if find_spec("pkg_resources") is None:
    # setuptools dropped it in version 81. ParlAI imports it only for the presets of its own commands.
    sys.modules["pkg_resources"] = ModuleType("pkg_resources")
