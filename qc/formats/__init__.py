"""What the formats fix that we both read and write, for those who load and those who save."""
