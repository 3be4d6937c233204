"""ParlAI: the paper's five architectures, how they are trained and how they are loaded.

Importing this package makes ParlAI fit for today's Python and torch, so everything that needs it goes
through here.
"""

import os
import warnings
from importlib.util import find_spec

from bots.parlai.compat import mend

if find_spec("parlai") is None:
    raise ModuleNotFoundError(
        "ParlAI is not installed here. In a checkout: make install-models.",
        name="parlai",
    )
os.environ.setdefault("TQDM_DISABLE", "1")  # ParlAI's own progress bars would run into ours
warnings.filterwarnings("ignore", "size_average and reduce args", UserWarning)  # ParlAI's, of torch
mend()
