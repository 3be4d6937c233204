import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface Props<T extends string> {
  /** What the tabs are of, for who cannot see where they stand. */
  label: string;
  tabs: readonly { tab: T; name: string; count?: number }[];
  now: T;
  onChoose: (tab: T) => void;
  /** Where a tab has an address of its own: its tab is a link that also opens elsewhere. */
  addressOf?: (tab: T) => string;
  /** What the chosen tab shows. */
  children: ComponentChildren;
}

/** Views of one thing, of which one is shown. Arrow keys move between the tabs. */
export function Tabs<T extends string>({ label, tabs, now, onChoose, addressOf, children }: Props<T>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // Where not all of them fit, the chosen one is in sight.
  useEffect(() => {
    const chosen = list.current?.querySelector<HTMLElement>("[aria-selected=true]");
    list.current?.scrollTo({ left: (chosen?.offsetLeft ?? 0) - list.current.clientWidth / 3 });
  }, [now]);
  const at = tabs.findIndex(({ tab }) => tab === now);
  const press = (event: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    const next = to === undefined ? undefined : tabs.at(to % tabs.length);
    if (next) {
      event.preventDefault();
      onChoose(next.tab);
      event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.tab}"]`)?.focus();
    }
  };
  return (
    <>
      <div ref={list} class="tabs" role="tablist" aria-label={label} onKeyDown={press}>
        {tabs.map(({ tab, name, count }) => {
          const common = {
            role: "tab",
            id: `${id}-${tab}`,
            "data-tab": tab,
            class: "tab",
            "aria-selected": tab === now,
            "aria-controls": tab === now ? `${id}-panel` : undefined,
            tabIndex: tab === now ? 0 : -1,
          } as const;
          const content = (
            <>
              {name}
              {count !== undefined && <span class="tab-count">{count}</span>}
            </>
          );
          return addressOf ? (
            <a
              key={tab}
              {...common}
              href={addressOf(tab)}
              onClick={(event) => follow(event, () => onChoose(tab))}
            >
              {content}
            </a>
          ) : (
            <button key={tab} type="button" {...common} onClick={() => onChoose(tab)}>
              {content}
            </button>
          );
        })}
      </div>
      <div id={`${id}-panel`} class="tab-panel" role="tabpanel" aria-labelledby={`${id}-${now}`}>
        {children}
      </div>
    </>
  );
}

/** Do what a link does on this page, unless it was asked to open elsewhere. */
export function follow(event: MouseEvent, go: () => void): void {
  if (!event.metaKey && !event.ctrlKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    go();
  }
}
