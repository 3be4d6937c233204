"""Hold sessions: sockets, messages, replies and what follows from them."""
