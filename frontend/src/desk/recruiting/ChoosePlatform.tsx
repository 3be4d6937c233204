import { useContext, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { RadioCards } from "../../design/RadioCards";
import { TextField } from "../../design/TextField";
import { Failed, send } from "../api";
import type { RecruitmentView } from "../api_types";
import { Link } from "../Link";
import { ResearcherContext } from "../researcher";
import { GoContext } from "../route";

interface Props {
  run: string;
  platforms: RecruitmentView["platforms"];
}

/** Asks on which platform to recruit, and opens a run like this one that does. */
export function ChoosePlatform({ run, platforms }: Props) {
  const { token } = useContext(ResearcherContext);
  const go = useContext(GoContext);
  const [kind, setKind] = useState(platforms[0]?.kind ?? "");
  const [name, setName] = useState(`${run}-${kind}`);
  const [complaint, setComplaint] = useState("");
  const [busy, setBusy] = useState(false);
  const chosen = platforms.find((platform) => platform.kind === kind);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy || name.trim() === "") {
      return;
    }
    setBusy(true);
    setComplaint("");
    try {
      const address = `/api/desk/runs/${encodeURIComponent(run)}/recruitment/run`;
      const opened = await send("POST", address, { platform: kind, run: name.trim() }, token, "Open the run");
      go({ page: "recruiting", run: (opened as { run: string }).run });
    } catch (error) {
      setComplaint(error instanceof Failed ? error.message : String(error));
      setBusy(false);
    }
  };
  return (
    <form class="box flow-form recruiting-form" onSubmit={(event) => void submit(event)}>
      <h2>Choose a platform</h2>
      <p class="soft">
        Workers come to this run by links only. A run does not change once it is open, so this opens another
        run of the same study, with the same rules and a new completion code. This run stays as it is.
      </p>
      <RadioCards
        legend="Recruit on"
        choices={platforms.map((platform) => ({
          value: platform.kind,
          label: (
            <>
              {platform.title}
              <span class="soft small"> {platform.connected ? "Connected" : "Needs a token"}</span>
            </>
          ),
        }))}
        value={kind}
        onChange={(value) => {
          setName((before) => (before === `${run}-${kind}` ? `${run}-${value}` : before));
          setKind(value);
        }}
      />
      <TextField
        label="Name of the new run"
        hint="Part of the workers’ link."
        value={name}
        onValue={setName}
        complaint={complaint}
        required
      />
      {chosen && !chosen.connected && <TokenSteps title={chosen.title} variable={chosen.token_variable} />}
      <p class="soft small">
        For CloudResearch Connect or SONA, choose it in the <Link to={{ page: "studies" }}>study</Link> at
        “Where workers come from”.
      </p>
      <div class="actions">
        <Button type="submit" busy={busy}>
          Open a run on {chosen?.title ?? "the platform"}
        </Button>
      </div>
    </form>
  );
}

/** What to do where the server has no access to the platform that a run's study names. */
export function Unconnected({ title, variable }: { title: string; variable: string }) {
  return (
    <section class="box flow-form recruiting-form" aria-label="Connect the platform">
      <h2>Connect {title}</h2>
      <TokenSteps title={title} variable={variable} />
    </section>
  );
}

function TokenSteps({ title, variable }: { title: string; variable: string }) {
  return (
    <div>
      <p>This server has no access to {title} yet. Whoever runs the server connects it once:</p>
      <ol class="recruiting-steps">
        <li>At {title}, create an API token in your workspace’s settings.</li>
        <li>
          Start the server with <code>{variable}=…</code> in its environment.
        </li>
        <li>Come back to this page.</li>
      </ol>
    </div>
  );
}
