import type { ComponentChildren } from "preact";

export interface Column {
  name: string;
  kind?: "wide" | "number";
}

interface Props {
  label: string;
  columns: Column[];
  children: ComponentChildren;
}

/** A table that scrolls sideways where it is wider than the page. `label` says what is in it. */
export function Table({ label, columns, children }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: nothing is asked for in here, so it is no fieldset
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
    <div class="box table-box" role="group" aria-label={label} tabIndex={0}>
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
