"""The bots of a server: which are registered, how they are held, whether they are fit."""
