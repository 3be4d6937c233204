"""What may go wrong with a ZIP archive that a stranger has sent."""

import zipfile
import zlib

# What Python raises while it reads a member that is damaged, cut off, encrypted or packed in an unknown way.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
