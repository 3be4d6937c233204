/** Lead the worker to the first thing in a form that keeps them from going on. */
export function showFirstMissing(form: HTMLFormElement | null): void {
  const card = form?.querySelector("[data-missing]");
  card?.scrollIntoView({ block: "center" });
  card?.querySelector<HTMLElement>("input, textarea")?.focus({ preventScroll: true });
}
