import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props<T extends string> {
  /** What the tabs are of, for who cannot see where they stand. */
  label: string;
  tabs: readonly { tab: T; name: string; count?: number }[];
  now: T;
  onChoose: (tab: T) => void;
  /** What the chosen tab shows. */
  children: ComponentChildren;
}

/** Views of one thing, of which one is shown. Arrow keys move between the tabs. */
export function Tabs<T extends string>({ label, tabs, now, onChoose, children }: Props<T>) {
  const id = useId();
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
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={press}>
        {tabs.map(({ tab, name, count }) => (
          <button
            key={tab}
            type="button"
            role="tab"
            id={`${id}-${tab}`}
            data-tab={tab}
            class="tab"
            aria-selected={tab === now}
            aria-controls={tab === now ? `${id}-panel` : undefined}
            tabIndex={tab === now ? 0 : -1}
            onClick={() => onChoose(tab)}
          >
            {name}
            {count !== undefined && <span class="tab-count">{count}</span>}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} class="tab-panel" role="tabpanel" aria-labelledby={`${id}-${now}`}>
        {children}
      </div>
    </>
  );
}
