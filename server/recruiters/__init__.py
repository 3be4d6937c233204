"""Arrival and return of workers, one module per platform."""
