/** Lead the worker to the first thing in a form that keeps them from going on. */
export function showFirstMissing(form: HTMLFormElement | null): void {
  const card = form?.querySelector("[data-missing]");
  card?.scrollIntoView({ block: "center" });
  const field =
    card?.querySelector<HTMLElement>("select:invalid") ??
    card?.querySelector<HTMLElement>(":has(input:checked) [role='option'][tabindex='0']") ??
    card?.querySelector<HTMLElement>("input, textarea, [role='option'][tabindex='0']");
  field?.focus({ preventScroll: true });
}
