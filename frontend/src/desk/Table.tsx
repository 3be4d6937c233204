import type { ComponentChildren } from "preact";

export interface Column {
  name: string;
  kind?: "wide" | "number";
}

interface Props {
  label: string;
  columns: readonly Column[];
  children: ComponentChildren;
  /** On a phone each row is a card; its cells say what they are by `data-name`. */
  cards?: boolean;
}

/** A table that scrolls sideways where it is wider than the page. `label` says what is in it. */
export function Table({ label, columns, children, cards }: Props) {
  const box = cards ? "box table-box table-cards" : "box table-box";
  return (
    // biome-ignore lint/a11y/useSemanticElements: nothing is asked for in here, so it is no fieldset
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
    <div class={box} role="group" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, kind }) => (
              <th key={name} scope="col" class={kind}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
