import type { IconNode } from "lucide";
import { h } from "preact";

/** An icon of lucide's set, as large as the text beside it. Words beside it say the same. */
export function Icon({ of }: { of: IconNode }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {of.map(([tag, attributes], index) => h(tag, { ...attributes, key: index }))}
    </svg>
  );
}
