/** Cents in the study's currency, as people read them; without it where the platform has not said which. */
export function amount(cents: number, currency: string | null): string {
  const plain = (cents / 100).toFixed(2);
  return currency === null ? plain : `${plain} ${currency}`;
}

/** Cents of an amount as it is typed, like 4.50. */
export function centsOf(text: string): number {
  return Math.round(Number(text) * 100);
}

/** The address of something below the recruitment of a run. */
export type At = (path: string, values?: Record<string, string>) => string;
