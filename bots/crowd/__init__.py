"""Simulated workers: they speak the real protocol over real sockets, to try a study before people do."""
