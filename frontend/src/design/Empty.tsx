import type { IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { Icon } from "./Icon";

interface Props {
  icon: IconNode;
  /** What is not there yet. */
  title: string;
  /** What to do next: a sentence, a button. */
  children?: ComponentChildren;
}

/** A place where nothing is yet, with the next step. */
export function Empty({ icon, title, children }: Props) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon of={icon} />
      </span>
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
