"""Constants of the formats that this package both reads and writes."""
