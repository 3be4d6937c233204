/** Cents as the platform counts them: its currency is the workspace's. */
export function amount(cents: number): string {
  return (cents / 100).toFixed(2);
}

/** Cents of an amount as it is typed, like 4.50. */
export function centsOf(text: string): number {
  return Math.round(Number(text) * 100);
}

/** The address of something below the recruitment of a run. */
export type At = (path: string, values?: Record<string, string>) => string;
