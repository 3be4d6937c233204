import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Segmented } from "../../design/Segmented";
import { TextField } from "../../design/TextField";
import { toast } from "../../design/Toast";
import { AccountContext, may } from "../account";
import { send } from "../api";
import { ResearcherContext } from "../researcher";
import type { Editor } from "../studies/editor";
import { mistakesAt } from "../studies/Field";
import { beginIn } from "../studies/focus";
import type { Schema } from "../studies/settings";
import { DRAFT, useBotDraft } from "./bot_draft";
import { EndpointFields } from "./EndpointFields";
import { endpointSchema, movedTo, serviceOf, servicesOf } from "./services";

type Whose = "study" | "server";
const WHOSE: { value: Whose; name: string }[] = [
  { value: "study", name: "This study" },
  { value: "server", name: "All studies" },
];
const OWN_NAME = /^[a-z][a-z0-9_]{0,39}$/;

interface Props {
  editor: Editor;
  /** The schema of studies, which has the settings of their bots. */
  root: Schema;
  onAdded: (bot: string) => void;
  onCancel?: () => void;
}

/** Add a bot to the study, or register it so that every study can name it. */
export function AddBot({ editor, root, onAdded, onCancel }: Props) {
  const { token } = useContext(ResearcherContext);
  const mayRegister = may(useContext(AccountContext), "change_bots");
  const [whose, setWhose] = useState<Whose>("study");
  const [name, setName] = useState("");
  const [failure, setFailure] = useState("");
  const services = servicesOf(root);
  const [first] = services;
  const start = first ? movedTo(undefined, first, endpointSchema(root, first.kind)) : { kind: "openai" };
  const draft = useBotDraft(start);
  const named = name.trim();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setFailure("");
    try {
      const { kind } = draft.endpoint;
      if (!(kind === "dial-in" || (await draft.check()))) {
        return;
      }
      const wrongName = whose === "study" ? wrongWith(named, editor) : "";
      if (wrongName) {
        setFailure(wrongName);
        return;
      }
      if (whose === "study") {
        editor.set(["bots", named], draft.endpoint);
      } else {
        await send("POST", "/api/desk/bots", { name: named, endpoint: draft.endpoint }, token);
      }
      setName("");
      // The next bot is often at the same service.
      const service = serviceOf(draft.endpoint, services);
      draft.set(DRAFT, service ? movedTo(undefined, service, endpointSchema(root, service.kind)) : start);
      onAdded(named);
      toast(`Added ${named}`);
      beginIn(form);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
  };
  const own = mistakesAt(draft.mistakes, DRAFT);
  return (
    <form class="study-fields" noValidate aria-label="Add a bot" onSubmit={(event) => void submit(event)}>
      {mayRegister && (
        <div class="field">
          <span class="label">Who can use it</span>
          <Segmented label="Who can use it" choices={WHOSE} value={whose} onChange={setWhose} />
          <p class="soft small">
            {whose === "study"
              ? "It becomes part of this study’s settings."
              : "It is registered with the server, and every study can name it."}
          </p>
        </div>
      )}
      <TextField
        label="Name of the bot"
        hint={
          whose === "study"
            ? "How this study names it: lowercase letters, digits and _. Workers never see it."
            : "How studies name it: lowercase letters, digits, - and _. Workers never see it."
        }
        value={name}
        onValue={setName}
        required
      />
      <EndpointFields editor={draft} root={root} path={DRAFT} dialIn={whose === "server"} />
      <p class="complaint" role="alert">
        {own || (draft.mistakes.length > 0 ? "Fix the problems above first." : failure)}
      </p>
      <div class="actions">
        {onCancel && (
          <Button kind="secondary" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" kind={onCancel ? "primary" : "secondary"}>
          Add
        </Button>
      </div>
    </form>
  );
}

/** What is wrong with the name of a bot of the study's own; empty where nothing is. */
function wrongWith(name: string, editor: Editor): string {
  if (!OWN_NAME.test(name)) {
    return "Enter a name: lowercase letters, digits or _, starting with a letter.";
  }
  const taken = [
    ...Object.keys((editor.content?.bots ?? {}) as Record<string, unknown>),
    ...systemsOf(editor).flatMap((system) => [system?.name, system?.bot]),
  ];
  return taken.includes(name) ? "The study has a bot of this name." : "";
}

/** A system as far as it is written. */
export interface WrittenSystem {
  name?: string;
  family?: string;
  bot?: unknown;
}

/** The systems that the study compares, as far as they are written. */
export function systemsOf({ content }: Editor): (WrittenSystem | null)[] {
  return Array.isArray(content?.systems) ? content.systems : [];
}

/** How many systems a worker meets unless the researcher says more: those of the published experiment. */
const MOST_MET = 5;

/** How many systems a worker meets, of whom there is one family more: one of each as long as they are few. */
function systemsMet(before: number, families: number): number {
  return before > families || (before === families - 1 && families <= MOST_MET) ? families : before;
}

/** Make a bot a system of the study. Each worker meets every system, as long as they are few. */
export function evaluate(editor: Editor, bot: string): void {
  // The name of a bot may have characters that a system's may not.
  const name = bot.replace(/[^a-z0-9_]/g, "_").replace(/^[^a-z]+/, "") || "bot";
  const systems = systemsOf(editor);
  editor.set(["systems", systems.length], { name, family: name, bot });
  const met = Number(editor.content?.systems_per_assignment ?? MOST_MET);
  const families = new Set([...systems.map((system) => system?.family), name]);
  if (systemsMet(met, families.size) !== met) {
    editor.set(["systems_per_assignment"], systemsMet(met, families.size));
  }
}
