/** What is written or chosen in, but not what is folded away. */
const WRITABLE = "textarea, select, input:not([type]), input[type=text], input[type=password]";

/**
 * Give the focus to the first field of what has just been opened, or to its heading where it has none. On a phone
 * that would raise the keyboard unasked: there the heading takes it.
 */
export function beginIn(part: Element | null | undefined): void {
  const fields = [...(part?.querySelectorAll<HTMLElement>(WRITABLE) ?? [])];
  const first = window.matchMedia("(pointer: coarse)").matches
    ? undefined
    : fields.find((field) => !field.closest("details:not([open])"));
  (first ?? part?.querySelector<HTMLElement>("h2[tabindex]"))?.focus();
}
