import type { ComponentChildren } from "preact";
import { Link } from "../Link";

interface Item {
  urgent: boolean;
  text: string;
  /** The run that it is in, where several are shown. */
  run?: string;
}

interface Props<T extends Item> {
  items: T[];
  /** What can be done about an item. */
  children?: (item: T) => ComponentChildren;
}

/** What needs the researcher, the most urgent first; a quiet line where nothing does. */
export function AttentionStrip<T extends Item>({ items, children }: Props<T>) {
  return (
    <section class="attention" aria-label="Needs attention" aria-live="polite">
      {items.length === 0 ? (
        <p class="soft small">No action needed.</p>
      ) : (
        <ul>
          {items.map((item) => (
            <li key={`${item.run} ${item.text}`} class={item.urgent ? "attention-urgent" : undefined}>
              <span class="attention-kind">{item.urgent ? "Act" : "Look"}</span>
              <span>{item.text}</span>
              {item.run && <Link to={{ page: "run", run: item.run }}>Show</Link>}
              {children?.(item)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
