import { useContext, useId, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Dialog } from "../../design/Dialog";
import { type Choice, RadioCards } from "../../design/RadioCards";
import { TextField } from "../../design/TextField";
import { send } from "../api";
import type { StudyDetail } from "../api_types";
import { useFetched } from "../fetched";
import { LoadStatus } from "../LoadStatus";
import { ResearcherContext } from "../researcher";
import { GoContext } from "../route";

const FILE = "file";

/** Asks what a new study begins with, in which language, and how it is called. */
export function NewStudy({ onClose }: { onClose: () => void }) {
  const { token, renew } = useContext(ResearcherContext);
  const go = useContext(GoContext);
  const id = useId();
  const { data, failure: unknown } = useFetched("/api/desk/study-templates", {}, "");
  const [name, setName] = useState("");
  const [from, setFrom] = useState("blank");
  const [language, setLanguage] = useState("en");
  const [yaml, setYaml] = useState("");
  const [failure, setFailure] = useState("");
  const [busy, setBusy] = useState(false);
  const languages = Object.entries(
    data?.templates.find(({ template }) => template === from)?.languages ?? {},
  );
  const spoken = languages.some(([tag]) => tag === language) ? language : "en";
  const take = async (file: File | undefined) => {
    const text = (await file?.text()) ?? "";
    setYaml(text);
    setName((before) => before || (/^name:\s*([a-z][a-z0-9_]*)/m.exec(text)?.[1] ?? ""));
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy) {
      return;
    }
    setBusy(true);
    try {
      const content = from === FILE ? { yaml } : { begin_with: from, language: spoken };
      const body = { name: name.trim(), ...content };
      const made = (await send("POST", "/api/desk/studies", body, token)) as StudyDetail;
      await renew();
      go({ page: "study", study: made.name });
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  const choices = [
    ...(data?.templates ?? []).map(({ template, title, about }) => choiceOf(template, title, about)),
    choiceOf(FILE, "A YAML file", "A study that you have as a file."),
  ];
  return (
    <Dialog title="New study" onClose={onClose}>
      <form class="study-fields" onSubmit={(event) => void submit(event)}>
        <TextField
          label="Name"
          hint="Lowercase letters, digits and _, starting with a letter. Workers never see it."
          value={name}
          onValue={(typed) => setName(typed.toLowerCase().replaceAll(/[\s-]+/g, "_"))}
          complaint={failure}
        />
        {from === FILE ? (
          <div class="field">
            <label class="label" for={`${id}-file`}>
              File
            </label>
            <input
              id={`${id}-file`}
              type="file"
              accept=".yaml,.yml,text/yaml"
              onChange={(event) => void take(event.currentTarget.files?.[0])}
            />
          </div>
        ) : (
          languages.length > 1 && (
            <div class="field">
              <label class="label" for={`${id}-language`}>
                Language of the workers
              </label>
              <select
                id={`${id}-language`}
                class="input"
                value={spoken}
                onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
              >
                {languages.map(([tag, each]) => (
                  <option key={tag} value={tag}>
                    {each}
                  </option>
                ))}
              </select>
            </div>
          )
        )}
        <LoadStatus failure={unknown} empty={false} />
        <RadioCards legend="Begin with" choices={choices} value={from} onChange={setFrom} />
        <div class="actions">
          <Button kind="secondary" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" busy={busy}>
            Create the study
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function choiceOf(value: string, title: string, about: string): Choice<string> {
  const label = (
    <>
      {title}
      <span class="soft small block">{about}</span>
    </>
  );
  return { value, label };
}
