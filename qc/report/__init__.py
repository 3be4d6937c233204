"""Report on a run: `candor report SOURCE`."""
