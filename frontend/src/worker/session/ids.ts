const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz";

/** A fresh id for a message. Does without `crypto.randomUUID`, which plain http pages do not have. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");
}
