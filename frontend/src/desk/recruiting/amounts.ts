import { numberIn } from "../../shared/numbers";

/** Cents in the study's currency, as people read them; without it where the platform has not said which. */
export function amount(cents: number, currency: string | null): string {
  const plain = (cents / 100).toFixed(2);
  return currency === null ? plain : `${plain} ${currency}`;
}

/** The number that is typed into a field: 0 where nothing is, NaN where it is no number. */
export function typedNumber(text: string): number {
  const value = numberIn(text);
  return value === null ? 0 : (value ?? Number.NaN);
}

/** Cents of an amount as it is typed, like 4.50. */
export function centsOf(text: string): number {
  return Math.round(typedNumber(text) * 100);
}

/** The address of something below the recruitment of a run. */
export type At = (path: string, values?: Record<string, string>) => string;
