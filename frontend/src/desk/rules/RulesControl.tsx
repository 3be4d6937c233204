import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { AccountContext, may } from "../account";
import type { RunDetail, RunRules } from "../api_types";
import { ResearcherContext } from "../researcher";
import { putRules, RulesDialog } from "./RulesDialog";

/** A way to the rules of a run for who may change them, and back to those that it had before. */
export function RulesControl({ run }: { run: RunDetail }) {
  const account = useContext(AccountContext);
  const { token } = useContext(ResearcherContext);
  const [open, setOpen] = useState(false);
  const [before, setBefore] = useState<RunRules | null>(null);
  const [said, setSaid] = useState("");
  if (!may(account, "change_runs")) {
    return null;
  }
  const undo = async (rules: RunRules) => {
    try {
      await putRules(run.run, rules, token);
      setSaid("Rules restored.");
      setBefore(null);
    } catch (error) {
      setSaid(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <Button kind="secondary" onClick={() => setOpen(true)}>
        Change rules
      </Button>
      {open && (
        <RulesDialog
          run={run}
          onClose={() => setOpen(false)}
          onChanged={(rules) => {
            setBefore(rules);
            setSaid("Rules saved.");
          }}
        />
      )}
      <span class="undo small" role="status">
        {said}
        {before && (
          <Button kind="quiet" onClick={() => void undo(before)}>
            Undo
          </Button>
        )}
      </span>
    </>
  );
}
