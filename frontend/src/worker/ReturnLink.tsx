import { useTexts } from "./hooks";

/**
 * Go to a page elsewhere: in the whole window, never in a frame that this page stands in, so that the code stays. Returns
 * whether the browser let it: what stands around a frame may forbid it.
 */
export function goTo(address: string): boolean {
  try {
    (window.top ?? window).location.href = address;
    return true;
  } catch {
    return false;
  }
}

/** The way back to where the worker comes from. Where the frame may not be left, it opens beside it. */
export function ReturnLink({ to }: { to: string }) {
  const { say } = useTexts();
  const press = (event: Event) => {
    event.preventDefault();
    if (!goTo(to)) {
      window.open(to, "_blank", "noopener");
    }
  };
  return (
    <a class="button button-primary" href={to} target="_top" onClick={press}>
      {say("done.finish")}
    </a>
  );
}
