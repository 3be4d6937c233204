"""Settings of a command's own process, made before large imports."""

import ctypes
import gc
import os
import sys

# Of glibc's mallopt (malloc.h).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_LARGEST = 2**31 - 1


def settle() -> None:
    """Let one thread multiply matrices, and keep freed memory for what comes next.

    Starting the matrix library's threads takes a tenth of a small report, and every large product is
    made by one of them in any case (`qc.statistics.resampling`). A large run makes arrays of 100 MB by the
    hundred: given back and asked for again, their pages take the system a third of the report's time. Modules
    are some hundred thousand objects that all stay: searching them for garbage as they are imported takes a
    tenth of a small report, so nothing is searched until `spare_modules`.

    To be called before NumPy and PyArrow are imported; what the environment sets already stays.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.platform == "linux":
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
        _keep_freed()


def spare_modules() -> None:
    """Search for garbage again, but never in what was imported: large arrays hang on small cycles."""
    gc.freeze()
    gc.enable()


def _keep_freed() -> None:
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:  # musl has none
        mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        mallopt(_M_TRIM_THRESHOLD, _LARGEST)
