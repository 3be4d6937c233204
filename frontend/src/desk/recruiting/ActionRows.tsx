import type { ComponentChildren } from "preact";
import { Button } from "../../design/Button";
import { type Action, useActionDialog } from "../run/ActionDialog";

/** What there is to decide about something: `about` tells it from the others, for who only hears the buttons. */
export interface ActionRow {
  key: string;
  what: ComponentChildren;
  more: ComponentChildren;
  about: string;
  actions: Action[];
}

interface Props {
  title: string;
  /** Stands above the rows. */
  summary?: ComponentChildren;
  /** Stands where there are no rows. */
  none: string;
  rows: ActionRow[];
  /** What can be done about all of them together. */
  ofAll?: Action[];
  onDone: () => void;
}

/** A part of the page with rows, each with what can be done about it. */
export function ActionRows({ title, summary, none, rows, ofAll = [], onDone }: Props) {
  const { choose, dialog } = useActionDialog(({ name }) => name, onDone);
  return (
    <section class="recruiting-part" aria-label={title}>
      <h2>{title}</h2>
      {summary && <p>{summary}</p>}
      {rows.length === 0 && <p class="soft">{none}</p>}
      <ul class="differences">
        {rows.map(({ key, what, more, about, actions }) => (
          <li key={key} class="box">
            <div>
              <p>{what}</p>
              <p class="soft small">{more}</p>
            </div>
            {actions.length > 0 && (
              <div class="actions">
                {actions.map((action) => (
                  <Button key={action.name} kind="secondary" onClick={() => choose(action)}>
                    {action.name}
                    <span class="unseen"> {about}</span>
                  </Button>
                ))}
              </div>
            )}
          </li>
        ))}
      </ul>
      {ofAll.map((action) => (
        <Button key={action.name} kind="secondary" onClick={() => choose(action)}>
          {action.name}
        </Button>
      ))}
      {dialog}
    </section>
  );
}
