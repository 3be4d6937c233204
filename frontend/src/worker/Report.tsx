import { useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Dialog } from "../design/Dialog";
import { RadioCards } from "../design/RadioCards";
import { Excess } from "./Excess";
import { useSession, useTexts } from "./hooks";
import { MAX_NOTE, roomIn } from "./limits";
import type { ReportCard } from "./session/protocol";
import { type ReportedScreen, reportOf, type Side } from "./session/reducer";

const REASONS = ["offensive", "sexual", "harm", "personal", "other"] as const;
type Reason = ReportCard["reason"];

interface Props {
  screen: ReportedScreen;
  turn: number;
  /** Of two chatbots that answered beside each other, whose line it is. */
  side: Side | null;
  text: string;
}

/** A quiet way to say that a message should not have been said. */
export function Report(props: Props) {
  const { state } = useSession();
  const { say } = useTexts();
  const [open, setOpen] = useState(false);
  const report = reportOf(state, props.screen, props.turn, props.side);
  return (
    // Not read out with every reply: who looks for it finds it behind the message.
    <span class="report" aria-live="off">
      <button
        type="button"
        class={report ? "report-open report-done" : "report-open"}
        aria-label={say(report ? "report.change" : "report.open")}
        title={say(report ? "report.change" : "report.open")}
        onClick={() => setOpen(true)}
      >
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M6 21V4M6 4h12l-3 4.5L18 13H6" />
        </svg>
      </button>
      {open && <ReportDialog {...props} report={report} onClose={() => setOpen(false)} />}
    </span>
  );
}

interface DialogProps extends Props {
  report: ReportCard | null;
  onClose: () => void;
}

/** Asks what is wrong with a message, and whether the worker goes on or leaves. */
function ReportDialog({ screen, turn, side, text, report, onClose }: DialogProps) {
  const session = useSession();
  const { say } = useTexts();
  const [reason, setReason] = useState<Reason | null>(report?.reason ?? null);
  const [note, setNote] = useState(report?.note ?? "");
  const [tried, setTried] = useState(false);
  const tooLong = roomIn(note, MAX_NOTE) < 0;
  const line = { conversation: screen.conversation, attempt: screen.attempt, turn, side };
  const send = (leave: boolean) => {
    setTried(true);
    if (reason !== null && !tooLong) {
      session.send({ type: "report", ...line, reason, note: note.trim(), leave });
      onClose();
    }
  };
  const takeBack = () => {
    session.send({ type: "take_back_report", ...line });
    onClose();
  };
  return (
    <Dialog title={say("report.title")} onClose={onClose}>
      <form
        class="flow report-form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          send(false);
        }}
      >
        <blockquote class="report-text small soft" dir="auto" translate={false}>
          {text}
        </blockquote>
        <p class="soft small">{say("report.told")}</p>
        <RadioCards
          legend={say("report.why")}
          choices={REASONS.map((value) => ({ value, label: say(`report.${value}`) }))}
          value={reason}
          onChange={setReason}
          complaint={tried && reason === null ? say("common.choose") : null}
        />
        <div class="field">
          <label class="label" for="report-note">
            {say("report.note")} <span class="soft">{say("feedback.optional")}</span>
          </label>
          <textarea
            id="report-note"
            class="input"
            dir={note ? "auto" : undefined}
            rows={2}
            value={note}
            aria-invalid={tooLong ? "true" : undefined}
            aria-describedby="report-note-excess"
            onInput={(event) => setNote(event.currentTarget.value)}
          />
          <Excess id="report-note-excess" text={note} most={MAX_NOTE} />
        </div>
        <div class="actions">
          <Button type="submit">{say("report.stay")}</Button>
          <Button kind="secondary" onClick={() => send(true)}>
            {say("report.leave")}
          </Button>
          {report && (
            <Button kind="quiet" onClick={takeBack}>
              {say("report.take_back")}
            </Button>
          )}
          <Button kind="quiet" onClick={onClose}>
            {say("change.cancel")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
