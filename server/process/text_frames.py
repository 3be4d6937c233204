"""Texts as frames of a WebSocket (RFC 6455, section 5.2), where a whole text is one frame: nearly always."""

try:
    from websockets.speedups import apply_mask
except ImportError:
    from websockets.utils import apply_mask

_TEXT, _MASKED = 0x81, 0x80  # a frame that is the whole of a text; the bit that tells a client's frames
_SHORT, _LONG = 126, 65_536  # bytes: below them a length takes one byte, and three


def text_frame(text: bytes) -> bytes:
    """Return the frame that sends a text, in UTF-8, to a client (RFC 6455, section 5.2)."""
    size = len(text)
    if size < _SHORT:
        return bytes((_TEXT, size)) + text
    if size < _LONG:
        return bytes((_TEXT, 126)) + size.to_bytes(2, "big") + text
    return bytes((_TEXT, 127)) + size.to_bytes(8, "big") + text


def whole_text(data: bytes) -> bytes | None:
    """Return the text of a client's frame that is all of `data`, and all of a text; None: it is not that.

    Frames that are longer than 65,535 bytes are none of these (RFC 6455, section 5.2).
    """
    if len(data) < 6 or data[0] != _TEXT or not data[1] & _MASKED:
        return None
    size, start = data[1] & ~_MASKED, 2
    if size == 127:
        return None
    if size == 126:
        size, start = int.from_bytes(data[2:4], "big"), 4
    if len(data) != start + 4 + size:
        return None
    return apply_mask(data[start + 4 :], data[start : start + 4])
