/** Return round numbers from `first` to `last`, at most `most` of them. */
export function ticksOf(first: number, last: number, most: number): number[] {
  const steps = [1, 10, 100, 1_000, 10_000].flatMap((power) => [1, 2, 5].map((digit) => digit * power));
  const within = (step: number) => Math.floor(last / step) - Math.ceil(first / step) + 1;
  const step = steps.find((each) => within(each) <= most) ?? last;
  const begin = Math.ceil(first / step) * step;
  return Array.from({ length: within(step) }, (_, index) => begin + index * step);
}

/** Return what so many people cost, short enough for an axis. */
export function costTicks(workers: number, each: number): string {
  const cost = workers * each;
  const isWhole = Number.isInteger(cost) || cost >= 1_000;
  return isWhole ? Math.round(cost).toLocaleString("en-GB") : cost.toFixed(2);
}
