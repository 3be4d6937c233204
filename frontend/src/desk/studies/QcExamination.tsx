import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { getJson } from "../api";
import type { Finding } from "../api_types";
import { ResearcherContext } from "../researcher";
import type { Editor } from "./editor";
import { Answers } from "./Findings";

/** The qc bot of a study, examined before launch: it has to be worse to who reads its lines, and to nobody else. */
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
      setStatus(found.findings.length === 0 ? "This study has no published qc bot." : "");
    } catch (error) {
      setStatus(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div class="study-bot">
      <code>qc</code>
      <span class="soft small">Check that humans, but not simple heuristics, can spot this bot.</span>
      <Button kind="secondary" onClick={() => void examine()}>
        Examine the qc bot
      </Button>
      <span class="small" role="status">
        {status}
      </span>
      {findings && findings.length > 0 && (
        <div class="study-findings small">
          <Answers findings={findings} />
          {editor.dirty && <p class="soft">Of the study as it was last saved.</p>}
        </div>
      )}
    </div>
  );
}
