import type { ComponentChildren } from "preact";

/** A table that scrolls sideways where it is wider than the page. `label` says what is in it. */
export function TableBox({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: nothing is asked for in here, so it is no fieldset
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
    <div class="box table-box" role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
