import type { ComponentChildren } from "preact";
import { useNarrow } from "../narrow";

/** A part of the run's page that is folded away on a phone, where it would make the page long. */
export function Fold({ title, children }: { title: string; children: ComponentChildren }) {
  if (!useNarrow()) {
    return <>{children}</>;
  }
  return (
    <details class="fold">
      <summary>{title}</summary>
      {children}
    </details>
  );
}
