import { useState } from "preact/hooks";
import { Button } from "../design/Button";
import { atServer } from "../shared/site";
import { useSession, useTexts } from "./hooks";

interface Props {
  days: number;
  onGone: () => void;
}

/** What a worker can do with what they gave, for so many days: save it as a file, or withdraw it. */
export function OwnData({ days, onGone }: Props) {
  const { say } = useTexts();
  const session = useSession();
  const [stage, setStage] = useState<"offered" | "asked" | "gone" | "failed">("offered");
  const post = async (what: string) => {
    const answer = await fetch(atServer(`/api/own-data/${what}`), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token: session.token }),
    }).catch(() => null);
    if (!answer?.ok) {
      setStage("failed");
      return null;
    }
    return answer;
  };
  const download = async () => {
    const answer = await post("download");
    if (answer) {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(await answer.blob());
      link.download = "my-data.json";
      link.click();
      URL.revokeObjectURL(link.href);
    }
  };
  const withdraw = async () => {
    if (await post("withdraw")) {
      setStage("gone");
      onGone();
    }
  };
  return (
    <section class="flow-small">
      <h2>{say("done.own_title")}</h2>
      {(stage === "offered" || stage === "failed") && (
        <>
          <p>{say("done.own_lead", { n: days })}</p>
          <div class="actions">
            <Button kind="secondary" onClick={() => void download()}>
              {say("done.own_download")}
            </Button>
            <Button kind="secondary" onClick={() => setStage("asked")}>
              {say("done.own_withdraw")}
            </Button>
          </div>
        </>
      )}
      {stage === "asked" && (
        <>
          <p>{say("done.own_really")}</p>
          <div class="actions">
            <Button kind="danger" onClick={() => void withdraw()}>
              {say("done.own_confirm")}
            </Button>
            <Button kind="secondary" onClick={() => setStage("offered")}>
              {say("done.own_keep")}
            </Button>
          </div>
        </>
      )}
      <p role="status">
        {stage === "gone" && say("done.own_gone")}
        {stage === "failed" && say("done.own_failed")}
      </p>
    </section>
  );
}
