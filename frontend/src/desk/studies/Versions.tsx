import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { getJson } from "../api";
import { ago } from "../format";
import { ResearcherContext } from "../researcher";
import { Changes } from "./dialogs";
import type { Editor } from "./editor";

/** Every version, and what was changed in it. */
export function Versions({ editor }: { editor: Editor }) {
  const { token } = useContext(ResearcherContext);
  const [shown, setShown] = useState<number | null>(null);
  const { name, versions } = editor.saved;
  const restore = async (version: number) => {
    const values = { study: name, version: String(version) };
    const path = "/api/desk/studies/{study}/versions/{version}";
    const found = await getJson(path, values, token, new AbortController().signal);
    editor.write(found.yaml);
  };
  return (
    <ol class="study-versions">
      {versions.map((each) => (
        <li key={each.version}>
          <p>
            <strong>Version {each.version}</strong>{" "}
            <span class="soft small">
              saved {ago(each.saved_at)} by {each.saved_by}, fingerprint {each.hash}
            </span>
          </p>
          <div class="actions">
            {each.version > 1 && (
              <Button kind="quiet" onClick={() => setShown(shown === each.version ? null : each.version)}>
                {shown === each.version ? "Hide changes" : "Show changes"}
              </Button>
            )}
            {each.version < editor.saved.version && (
              <Button kind="quiet" onClick={() => void restore(each.version)}>
                {`Continue from version ${each.version}`}
              </Button>
            )}
          </div>
          {shown === each.version && <Changes study={name} since={each.version - 1} version={each.version} />}
        </li>
      ))}
    </ol>
  );
}
