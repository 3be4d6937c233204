/** Return round numbers from `first` to `last`, at most `most` of them. */
export function ticksOf(first: number, last: number, most: number): number[] {
  const steps = [1, 10, 100, 1_000, 10_000].flatMap((power) => [1, 2, 5].map((digit) => digit * power));
  const step = steps.find((each) => (last - first) / each <= most - 1) ?? last;
  const begin = Math.ceil(first / step) * step;
  return Array.from({ length: Math.floor((last - begin) / step) + 1 }, (_, index) => begin + index * step);
}

/** Return what so many people cost, short enough for an axis. */
export function costTicks(workers: number, each: number): string {
  const cost = workers * each;
  const isWhole = Number.isInteger(cost) || cost >= 1_000;
  return isWhole ? Math.round(cost).toLocaleString("en-GB") : cost.toFixed(2);
}
