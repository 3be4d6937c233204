import { ChevronDown, type IconNode } from "lucide";
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

interface Props {
  /** What the button says. */
  label: ComponentChildren;
  items: MenuItem[];
  /** What stands above the items. */
  children?: ComponentChildren;
}

/** A button with a list of actions below it. Arrow keys move between them; Escape gives the focus back. */
export function Menu({ label, items, children }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const id = useId();

  useEffect(() => {
    if (!open) {
      return;
    }
    choices(root.current)[0]?.focus();
    const away = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) {
        setOpen(false);
      }
    };
    document.addEventListener("pointerdown", away);
    document.addEventListener("focusin", away);
    return () => {
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
        class="button button-secondary"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <span class="menu-label">{label}</span>
        <Icon of={ChevronDown} />
      </button>
      {open && (
        <div class="menu-box">
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

function choices(root: HTMLElement | null): HTMLButtonElement[] {
  return [...(root?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? [])];
}
