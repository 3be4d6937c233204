"""Simulated workers, who use the real protocol over real sockets, to test a study before people take part."""
