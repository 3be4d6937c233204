import { ChevronDown, Ellipsis, type IconNode } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon } from "./Icon";

export interface MenuItem {
  name: string;
  icon?: IconNode;
  /** It destroys something: it stands apart, at the end. */
  danger?: boolean;
  onChoose: () => void;
}

const ITEM_PX = 44;

interface Props {
  /** What the button says. */
  label: ComponentChildren;
  items: MenuItem[];
  /** What stands above the items. */
  children?: ComponentChildren;
  /** In a row of a table: three dots that say nothing but to a screen reader, and a list that no table cuts off. */
  inRow?: boolean;
}

/** A button with a list of actions below it. Arrow keys move between them; Escape gives the focus back. */
export function Menu({ label, items, children, inRow }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();
  const [place, setPlace] = useState({});
  // The list hangs from the side of the button that is nearer to the edge of the page.
  const [atStart, setAtStart] = useState(false);

  useEffect(() => {
    if (!open) {
      return;
    }
    if (inRow && button.current) {
      setPlace(beside(button.current, items.length));
    }
    choices(root.current)[0]?.focus({ preventScroll: true });
    const scrolled = () => inRow && setOpen(false);
    window.addEventListener("scroll", scrolled, true);
    const away = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    document.addEventListener("pointerdown", away);
    document.addEventListener("focusin", away);
    return () => {
      window.removeEventListener("scroll", scrolled, true);
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("focusin", away);
    };
  }, [open]);

  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const press = (event: KeyboardEvent) => {
    if (!open) {
      return;
    }
    const all = choices(root.current);
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      all.at(to % all.length)?.focus();
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  };
  const entry = ({ name, icon, danger, onChoose }: MenuItem) => (
    <button
      key={name}
      type="button"
      role="menuitem"
      tabIndex={-1}
      class={danger ? "menu-item menu-danger" : "menu-item"}
      onClick={() => {
        close();
        onChoose();
      }}
    >
      {icon && <Icon of={icon} />}
      {name}
    </button>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keys pressed on the buttons within come up to here
    <div class="menu" ref={root} onKeyDown={press}>
      <button
        ref={button}
        type="button"
        class={inRow ? "button button-quiet menu-dots" : "button button-secondary"}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={({ currentTarget }) => {
          const { left, right } = currentTarget.getBoundingClientRect();
          setAtStart(left + right < window.innerWidth);
          setOpen(!open);
        }}
      >
        <span class={inRow ? "unseen" : "menu-label"}>{label}</span>
        <Icon of={inRow ? Ellipsis : ChevronDown} />
      </button>
      {open && (
        <div
          class={`menu-box ${inRow ? "menu-free" : atStart ? "menu-start" : ""}`}
          style={inRow ? place : undefined}
        >
          {children && <div class="menu-head">{children}</div>}
          <div id={id} role="menu" class="menu-list">
            {items.filter(({ danger }) => !danger).map(entry)}
            {items.some(({ danger }) => danger) && (
              <div class="menu-apart">{items.filter(({ danger }) => danger).map(entry)}</div>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

/** Where a list stands that belongs to a button: below it, or above it where there is no room below. */
function beside(button: HTMLElement, items: number) {
  const { top, bottom, right } = button.getBoundingClientRect();
  const edge = `${Math.max(8, document.documentElement.clientWidth - right)}px`;
  const fits = bottom + items * ITEM_PX + 24 < window.innerHeight || top < window.innerHeight / 2;
  return fits
    ? { top: `${bottom + 4}px`, right: edge }
    : { bottom: `${window.innerHeight - top + 4}px`, right: edge };
}

function choices(root: HTMLElement | null): HTMLButtonElement[] {
  return [...(root?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? [])];
}
