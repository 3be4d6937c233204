import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { getJson } from "../api";
import type { Finding } from "../api_types";
import { ResearcherContext } from "../researcher";
import type { Editor } from "../studies/editor";
import { BotRow } from "./BotRow";
import { Answers } from "./Findings";

/** The QC bot of a study, examined before launch: humans should spot it, and simple heuristics should not. */
export function QcExamination({ editor, onTry }: { editor: Editor; onTry: () => void }) {
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
    <BotRow
      bot="qc"
      about="Quality control: humans should spot this bot, and simple heuristics should not."
      onTry={onTry}
      found={
        (status || findings) && (
          <>
            <p class="small" role="status">
              {status}
            </p>
            {findings && findings.length > 0 && (
              <div class="bot-findings small">
                <Answers findings={findings} />
                {editor.dirty && <p class="soft">For the study as it was last saved.</p>}
              </div>
            )}
          </>
        )
      }
    >
      <Button kind="secondary" onClick={() => void examine()}>
        Examine
        <span class="unseen"> the QC bot</span>
      </Button>
    </BotRow>
  );
}
