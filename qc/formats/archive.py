"""Errors and limits for ZIP archives from other people."""

import zipfile
import zlib

# What Python raises while it reads a member that is damaged, cut off, encrypted or packed in an unknown way.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)
