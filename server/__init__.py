"""The live server: sessions, storage, and the adapters around them."""
