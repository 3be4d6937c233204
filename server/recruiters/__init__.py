"""Arrival and return of recruiters' workers, and clients of the recruiters through which workers are paid."""
