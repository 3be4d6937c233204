import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { getJson } from "../api";
import type { Finding } from "../api_types";
import { ResearcherContext } from "../researcher";
import type { Editor } from "../studies/editor";
import { Answers } from "./Findings";

/** The QC bot of a study, examined before launch: humans should spot it, and simple heuristics should not. */
export function QcExamination({ editor }: { editor: Editor }) {
  const { token } = useContext(ResearcherContext);
  const [findings, setFindings] = useState<Finding[] | null>(null);
  const [status, setStatus] = useState("");
  const examine = async () => {
    setStatus("One moment…");
    try {
      const study = { study: editor.saved.name };
      const path = "/api/desk/studies/{study}/qc-examination";
      const found = await getJson(path, study, token, new AbortController().signal);
      setFindings(found.findings);
      setStatus(found.findings.length === 0 ? "This study does not use the published QC bot." : "");
    } catch (error) {
      setStatus(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <Button kind="secondary" onClick={() => void examine()}>
        Examine
        <span class="unseen"> the QC bot</span>
      </Button>
      <p class="small soft bot-wide">
        Check that humans, but not simple heuristics, can spot this bot. <span role="status">{status}</span>
      </p>
      {findings && findings.length > 0 && (
        <div class="bot-findings small bot-wide">
          <Answers findings={findings} />
          {editor.dirty && <p class="soft">For the study as it was last saved.</p>}
        </div>
      )}
    </>
  );
}
