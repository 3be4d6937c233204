import { Archive, Copy, FlaskConical, Monitor, Plus, Smartphone, Trash2 } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Badge } from "../design/Badge";
import { Bar } from "../design/Bar";
import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { Empty } from "../design/Empty";
import { Icon } from "../design/Icon";
import { Menu } from "../design/Menu";
import type { Span } from "../design/marks";
import { Points } from "../design/Points";
import { Segmented } from "../design/Segmented";
import { Skeleton } from "../design/Skeleton";
import { Stepper } from "../design/Stepper";
import { useSorting } from "../design/sorting";
import { type Column, Table } from "../design/Table";
import { Tabs } from "../design/Tabs";
import { TextField } from "../design/TextField";
import { TextMarker } from "../design/TextMarker";
import { Time } from "../design/Time";
import { Toast, Toasts, toast } from "../design/Toast";
import { Wordmark } from "../design/Wordmark";

const COLOURS = [
  ...["paper", "card", "sunken", "line", "line-strong", "ink", "ink-soft"],
  ...["accent", "accent-deep", "accent-soft", "warm", "warm-soft", "danger", "danger-deep", "danger-soft"],
];
const TYPE = ["tiny", "small", "body", "large", "heading"];
const KINDS = ["primary", "secondary", "quiet", "danger"] as const;

/** Every component in every state. The theme is that of the system. */
export function Gallery() {
  return (
    <main class="gallery">
      <header class="gallery-part">
        <Wordmark />
        <h1>Components and their states</h1>
        <p class="soft">What a page needs is taken from here. Colours follow the system’s theme.</p>
      </header>
      <Part title="Colours">
        <ul class="gallery-colours">
          {COLOURS.map((name) => (
            <li key={name} class="small">
              <span style={{ background: `var(--${name})` }} />
              {name}
            </li>
          ))}
        </ul>
      </Part>
      <Part title="Type">
        <p style={{ font: "600 var(--title) / 1.2 var(--serif)" }}>A page’s title, in the serif</p>
        {TYPE.map((name) => (
          <p key={name} style={{ fontSize: `var(--${name})` }}>
            {name}: 42 workers rated 252 conversations, Ça va? Übermäßig, ¿cómo?
          </p>
        ))}
      </Part>
      <Buttons />
      <Fields />
      <Part title="Menu">
        <OpenMenu />
      </Part>
      <Choices />
      <Part title="Badges">
        <div class="gallery-row">
          <Badge kind="good">open</Badge>
          <Badge kind="busy">active</Badge>
          <Badge kind="held">paused</Badge>
          <Badge kind="failed">failed</Badge>
          <Badge>closed</Badge>
          <span class="tag">simulated</span>
        </div>
      </Part>
      <Part title="Progress">
        <Bar parts={[]} />
        <Bar
          parts={[
            { share: 45, kind: "rated" },
            { share: 20, kind: "active" },
            { share: 5, kind: "failed" },
          ]}
        />
        <Bar label="Report" parts={[{ share: 80, kind: "rated" }]} />
      </Part>
      <Tables />
      <Part title="Nothing there, on its way, failed">
        <div class="gallery-two">
          <Empty icon={FlaskConical} title="There is no study yet.">
            <p>A study says whom workers talk to and what they rate.</p>
            <Button>Make the first one</Button>
          </Empty>
          <div class="box">
            <Skeleton lines={4} />
          </div>
          <p class="failure">The server can’t be reached. The page tries again by itself.</p>
        </div>
      </Part>
      <Dialogs />
      <Part title="Toasts">
        <div class="gallery-row">
          <Toast text="Saved as version 12" failed={false} />
          <Toast text="The run could not be paused: the server can’t be reached." failed />
          <Button kind="secondary" onClick={() => toast("Saved as version 13")}>
            Show one
          </Button>
        </div>
      </Part>
      <Toasts />
    </main>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="gallery-part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Specimen({ state, children }: { state: string; children: ComponentChildren }) {
  return (
    <div class="gallery-specimen">
      {children}
      <span class="soft small">{state}</span>
    </div>
  );
}

/** What is within, as it looks with the pointer on it or with the focus. */
function Forced({ as, children }: { as: "hover" | "focus"; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    for (const element of box.current?.querySelectorAll("button, input:not([type=radio]), :checked") ?? []) {
      element.classList.add(`state-${as}`);
    }
  });
  return <div ref={box}>{children}</div>;
}

function Buttons() {
  return (
    <Part title="Buttons">
      {KINDS.map((kind) => (
        <div key={kind} class="gallery-row">
          <Specimen state={kind}>
            <Button kind={kind}>Open a run</Button>
          </Specimen>
          <Specimen state="hover">
            <Forced as="hover">
              <Button kind={kind}>Open a run</Button>
            </Forced>
          </Specimen>
          <Specimen state="focus">
            <Forced as="focus">
              <Button kind={kind}>Open a run</Button>
            </Forced>
          </Specimen>
          <Specimen state="off">
            <Button kind={kind} off>
              Open a run
            </Button>
          </Specimen>
          <Specimen state="busy">
            <Button kind={kind} busy>
              Open a run
            </Button>
          </Specimen>
          <Specimen state="with an icon">
            <Button kind={kind}>
              <Icon of={kind === "danger" ? Trash2 : Plus} />
              {kind === "danger" ? "Delete" : "New study"}
            </Button>
          </Specimen>
        </div>
      ))}
    </Part>
  );
}

function Fields() {
  const [text, setText] = useState("cooking");
  return (
    <Part title="Fields">
      <div class="gallery-two">
        <TextField label="Name" value={text} onValue={setText} hint="Workers never see it." />
        <TextField label="Name" value="" onValue={setText} placeholder="cooking" />
        <Forced as="focus">
          <TextField label="Name, with the focus" value="cooking" onValue={setText} />
        </Forced>
        <TextField
          label="Name, wrong"
          value="My study"
          onValue={setText}
          complaint="Enter a name: lowercase letters, digits or _, starting with a letter."
        />
        <label class="field">
          <span class="label">Role</span>
          <select class="input">
            <option>viewer: sees runs and studies</option>
          </select>
        </label>
        <label class="field">
          <span class="label">Off</span>
          <input class="input" disabled value="demo" />
        </label>
      </div>
    </Part>
  );
}

function OpenMenu() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.querySelector<HTMLButtonElement>(".gallery-opens button")?.click();
  }, []);
  const items = [
    { name: "Copy", icon: Copy, onChoose: () => toast("Copied") },
    { name: "Archive", icon: Archive, onChoose: () => toast("Archived") },
    { name: "Delete", icon: Trash2, danger: true, onChoose: () => toast("Deleted") },
  ];
  return (
    <div ref={box} class="gallery-row gallery-open" style={{ alignItems: "flex-start", minHeight: "13rem" }}>
      <Menu label="More" items={items} />
      <div class="gallery-opens" style={{ marginInlineStart: "6rem" }}>
        <Menu label="owner@example.org" items={items}>
          <p class="soft small">owner of all studies</p>
        </Menu>
      </div>
    </div>
  );
}

type Step = "basics" | "consent" | "task" | "bots" | "ratings" | "review";
type Device = "phone" | "computer";

/** A text with two marks, of which one is still to be named. */
function Marker() {
  const [marks, setMarks] = useState<Span[]>([
    { line: 0, start: 4, end: 11, category: "Grammar" },
    { line: 1, start: 0, end: 8 },
  ]);
  const kind = (name: string) => ({
    choose: `Choose a ${name}`,
    of: (words: string) => `${capital(name)} of “${words}”`,
  });
  return (
    <>
      <p id="marker-label" class="label">
        Mark every error.
      </p>
      <TextMarker
        labelledBy="marker-label"
        language="en"
        lines={[
          { line: 0, text: "The cat sit on the mat.", markable: true },
          { line: 2, text: "Is it warm there?", markable: false },
          { line: 1, text: "Purple is not warm.", markable: true },
        ]}
        marks={marks}
        onChange={setMarks}
        categories={["Grammar", "Sense"]}
        severities={[]}
        words={{
          how: "Choose the first and the last word of each part, or drag across it.",
          keys: "Arrow keys move from word to word, and Enter chooses.",
          end: "Now choose the last word.",
          cancel: "Cancel",
          none: "Nothing is marked.",
          remove: "Remove",
          removeOf: (words) => `Remove the mark of “${words}”`,
          category: kind("category"),
          severity: kind("severity"),
        }}
      />
    </>
  );
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function Choices() {
  const [tab, setTab] = useState<"overview" | "workers" | "transcripts" | "report">("overview");
  const [device, setDevice] = useState<Device>("phone");
  const [step, setStep] = useState<Step>("bots");
  return (
    <>
      <Part title="Tabs">
        <Tabs
          label="Views of a run"
          now={tab}
          onChoose={setTab}
          tabs={[
            { tab: "overview", name: "Overview" },
            { tab: "workers", name: "Workers", count: 42 },
            { tab: "transcripts", name: "Transcripts" },
            { tab: "report", name: "Report" },
          ]}
        >
          <p class="soft">What {tab} shows.</p>
        </Tabs>
        <Tabs
          label="Views with addresses of their own"
          now="bots"
          onChoose={() => undefined}
          addressOf={(at) => `#${at}`}
          tabs={[
            { tab: "bots", name: "A link" },
            { tab: "settings", name: "Another link" },
          ]}
        >
          <p class="soft">They look alike, and also open in a new tab.</p>
        </Tabs>
      </Part>
      <Part title="Marks in a text">
        <Marker />
      </Part>
      <Part title="Segmented control">
        <div class="gallery-row">
          <Specimen state="default">
            <Segmented
              label="Shown as on"
              value={device}
              onChange={setDevice}
              choices={[
                { value: "phone", name: "Phone", icon: Smartphone },
                { value: "computer", name: "Computer", icon: Monitor },
              ]}
            />
          </Specimen>
          <Specimen state="focus">
            <Forced as="focus">
              <Segmented
                label="Focused"
                value="day"
                onChange={() => undefined}
                choices={[
                  { value: "day", name: "Day" },
                  { value: "week", name: "Week" },
                ]}
              />
            </Forced>
          </Specimen>
          <Specimen state="one is off">
            <Segmented
              label="One is off"
              value="day"
              onChange={() => undefined}
              choices={[
                { value: "day", name: "Day" },
                { value: "week", name: "Week", off: true },
              ]}
            />
          </Specimen>
        </div>
      </Part>
      <Part title="Points">
        <div class="gallery-row">
          <Specimen state="words at the ends">
            <Likert ends={["strongly disagree", "strongly agree"]} labels={[]} points={5} />
          </Specimen>
          <Specimen state="a label on each point">
            <Likert ends={null} labels={["Hard to read", "Some mistakes", "Perfect"]} points={3} />
          </Specimen>
        </div>
      </Part>
      <Part title="Stepper">
        <Stepper
          label="Steps of a study"
          now={step}
          onChoose={setStep}
          steps={[
            { step: "basics", name: "Basics", state: "done" },
            { step: "consent", name: "Consent and texts", state: "done" },
            { step: "task", name: "Task and topic", state: "wrong", problems: 2 },
            { step: "bots", name: "Bots", problems: 1 },
            { step: "ratings", name: "Ratings" },
            { step: "review", name: "Review" },
          ]}
        />
      </Part>
    </>
  );
}

interface Row {
  worker: string;
  rated: number;
  p: number | null;
  at: string;
}

const COLUMNS: Column[] = [
  { name: "Worker", sort: "worker" },
  { name: "Status" },
  { name: "Rated", kind: "number", sort: "rated" },
  { name: "p", kind: "number", sort: "p" },
  { name: "Last seen", sort: "at" },
  { name: "" },
];
const ROWS: Row[] = Array.from({ length: 14 }, (_, index) => ({
  worker: `W${(index * 7919 + 4096).toString(16).toUpperCase()}`,
  rated: (index * 5) % 7,
  p: index % 4 === 0 ? null : 1 / (index + 1),
  at: new Date(Date.UTC(2026, 10, 27) - index * 9e7).toISOString(),
}));

function Tables() {
  const { rows, sorting } = useSorting(ROWS, {
    worker: (row) => row.worker,
    rated: (row) => row.rated,
    p: (row) => row.p,
    at: (row) => row.at,
  });
  useEffect(() => sorting.onSort("worker"), []);
  return (
    <Part title="Table">
      <div style={{ display: "grid", maxHeight: "22rem", overflow: "auto" }}>
        <Table label="Workers" columns={COLUMNS} sorting={sorting} cards>
          {rows.map((row, index) => (
            <tr key={row.worker} class={index === 1 ? "state-hover" : ""}>
              <th scope="row">
                <a href="#table">{row.worker}</a>
              </th>
              <td data-name="Status">
                <Badge kind={row.rated > 4 ? "good" : "busy"}>{row.rated > 4 ? "completed" : "active"}</Badge>
              </td>
              <td data-name="Rated" class="number">
                {row.rated}
              </td>
              <td data-name="p" class="number">
                {row.p?.toFixed(3) ?? "–"}
              </td>
              <td data-name="Last seen">
                <Time at={new Date(row.at)} />
              </td>
              <td>
                <Menu
                  inRow
                  label={`Actions for ${row.worker}`}
                  items={[
                    { name: "Copy", onChoose: () => toast("Copied") },
                    { name: "Delete", danger: true, onChoose: () => toast("Deleted") },
                  ]}
                />
              </td>
            </tr>
          ))}
        </Table>
      </div>
    </Part>
  );
}

/** A dialog where it stands on the page: it is opened as no modal one. */
function Dialogs() {
  const [open, setOpen] = useState(false);
  return (
    <Part title="Dialog">
      <div class="gallery-two">
        <dialog open class="dialog">
          <div class="dialog-body">
            <h2>Delete cooking?</h2>
            <p>All 12 versions are removed. No run was opened from them. This can’t be undone.</p>
            <div class="actions">
              <Button kind="secondary">Keep it</Button>
              <Button kind="danger">Delete it</Button>
            </div>
          </div>
        </dialog>
        <dialog open class="dialog">
          <div class="dialog-body">
            <h2>Copy the study</h2>
            <form class="flow-form" style={{ display: "grid", gap: "1rem" }}>
              <TextField label="Name of the copy" value="cooking_2" onValue={() => undefined} complaint="" />
              <div class="actions">
                <Button kind="secondary">Cancel</Button>
                <Button busy>Copy</Button>
              </div>
            </form>
          </div>
        </dialog>
      </div>
      <div class="gallery-row">
        <Button kind="secondary" onClick={() => setOpen(true)}>
          Open one
        </Button>
      </div>
      {open && (
        <Dialog title="Pause the run" onClose={() => setOpen(false)}>
          <p>Nobody new gets in until you resume. Those who are under way can finish.</p>
          <div class="actions">
            <Button kind="secondary" onClick={() => setOpen(false)}>
              Cancel
            </Button>
            <Button onClick={() => setOpen(false)}>Pause</Button>
          </div>
        </Dialog>
      )}
    </Part>
  );
}

function Likert(scale: { points: number; ends: readonly string[] | null; labels: readonly string[] }) {
  const [value, setValue] = useState<number | null>(2);
  const id = useId();
  return (
    <div>
      <p id={id}>The reply was fluent.</p>
      <Points
        {...scale}
        labelledBy={id}
        value={value}
        onChange={setValue}
        say={(point, words) => (words === null ? `${point}` : `${point}, ${words}`)}
      />
    </div>
  );
}
