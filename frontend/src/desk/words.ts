/** A count with its noun, in the singular where there is one: "1 message", "2 messages". */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
}
