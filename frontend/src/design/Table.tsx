import { ArrowDown, ArrowUp } from "lucide";
import type { ComponentChildren } from "preact";
import { Icon } from "./Icon";
import type { Sorting } from "./sorting";

export interface Column {
  name: string;
  kind?: "wide" | "number";
  /** It is left out on a tablet and on a phone; its cells say so by their class, too. */
  onlyWide?: boolean;
  /** By what a row is sorted where its name is pressed; a column without it can't be sorted. */
  sort?: string;
}

interface Props {
  label: string;
  columns: readonly Column[];
  children: ComponentChildren;
  /** On a phone each row is a card; its cells say what they are by `data-name`. */
  cards?: boolean;
  /** How its rows are sorted now, where they can be. */
  sorting?: Sorting;
}

/**
 * A table that scrolls sideways where it is wider than the page. `label` says what is in it. Arrow keys move
 * between its rows' links and buttons.
 */
export function Table({ label, columns, children, cards, sorting }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: nothing is asked for in here, so it is no fieldset
    <div
      class={cards ? "table-box table-cards" : "table-box"}
      role="group"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, which needs the focus where there is no mouse
      tabIndex={0}
      onKeyDown={moveByRow}
    >
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.name} column={column} {...(sorting ? { sorting } : {})} />
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function Head({ column: { name, kind, sort, onlyWide }, sorting }: { column: Column; sorting?: Sorting }) {
  const look = [kind, onlyWide ? "only-wide" : ""].filter(Boolean).join(" ");
  if (sort === undefined || sorting === undefined) {
    return (
      <th scope="col" class={look}>
        {name}
      </th>
    );
  }
  const now = sorting.by === sort ? sorting.order : null;
  return (
    <th scope="col" class={look} aria-sort={now ?? "none"}>
      <button type="button" class="sort" onClick={() => sorting.onSort(sort)}>
        {name}
        <span class="sort-arrow">
          <Icon of={now === "descending" ? ArrowDown : ArrowUp} />
        </span>
      </button>
    </th>
  );
}

/** Move the focus to the same place of the next row, or of the one before. */
function moveByRow(event: KeyboardEvent) {
  const row = (event.target as HTMLElement).closest("tbody tr");
  const next =
    event.key === "ArrowDown"
      ? row?.nextElementSibling
      : event.key === "ArrowUp"
        ? row?.previousElementSibling
        : null;
  if (row && next && !(event.target as HTMLElement).matches("input, select, textarea, [role=menuitem]")) {
    event.preventDefault();
    const stops = (of: Element) => [...of.querySelectorAll<HTMLElement>("a, button")];
    const at = stops(row).indexOf(event.target as HTMLElement);
    (stops(next)[at] ?? stops(next)[0])?.focus();
  }
}
