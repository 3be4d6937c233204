import { localeOf } from "./locale";

/**
 * Return the number that somebody has typed: null where nothing is, undefined where it is no single number.
 * A point and a comma both mark decimals. The one that marks thousands in `language` does not where three digits
 * follow: "1,500" is refused in English, and "1.500" in German, because nobody knows which number is meant.
 */
export function numberIn(text: string, language = "en"): number | null | undefined {
  const plain = text
    .normalize("NFKC")
    .replace(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 0xf))
    .replace("−", "-")
    .trim();
  if (plain === "") {
    return null;
  }
  const [, whole = "", sign = "", decimals = ""] = /^([+-]?\d*)(?:([.,٫])(\d+))?$/.exec(plain) ?? [];
  const mayBeThousands = decimals.length === 3 && /[1-9]/.test(whole) && sign !== decimalSign(language);
  const value = Number(`${whole}.${decimals}`);
  return mayBeThousands || !Number.isFinite(value) ? undefined : value;
}

/** Return a number as it is typed in `language`. */
export function typedIn(value: number, language: string): string {
  return String(value).replace(".", decimalSign(language));
}

function decimalSign(language: string): string {
  const parts = new Intl.NumberFormat(localeOf(language)).formatToParts(0.5);
  return parts.find(({ type }) => type === "decimal")?.value ?? ".";
}
