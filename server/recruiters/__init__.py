"""Recruiters: arrival and return of their workers, and clients of those through which workers are paid."""
