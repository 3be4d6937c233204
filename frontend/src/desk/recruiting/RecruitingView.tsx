import { useContext, useEffect, useState } from "preact/hooks";
import { Badge, type BadgeKind } from "../../design/Badge";
import { apiAddress } from "../api";
import type { RecruitmentDetail } from "../api_types";
import { useFetched } from "../fetched";
import { ago } from "../format";
import { LoadStatus } from "../LoadStatus";
import { ResearcherContext } from "../researcher";
import { type At, amount } from "./amounts";
import { Bonuses } from "./Bonuses";
import { ChoosePlatform, Unconnected } from "./ChoosePlatform";
import { useCost } from "./Cost";
import { Credits } from "./Credits";
import { Differences } from "./Differences";
import { DraftForm } from "./DraftForm";
import { PersonalLinks } from "./PersonalLinks";
import { ReviewDraft, StudyControls } from "./StudyControls";
import { Submissions } from "./Submissions";
import { Totals } from "./Totals";
import "./recruiting.css";

const EVERY_MS = 5_000;

/** A run's study on the platform that its workers come from: planned, published, read, paid. */
export function RecruitingView({ run }: { run: string }) {
  const [looks, setLooks] = useState(0);
  const lookAgain = () => setLooks((before) => before + 1);
  useEffect(() => {
    const timer = setInterval(lookAgain, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const { token } = useContext(ResearcherContext);
  const { data, failure } = useFetched("/api/desk/runs/{run}/recruitment", { run }, `${looks} ${token}`);
  const credits = useFetched("/api/desk/runs/{run}/credits", { run }, `${looks} ${token}`).data;
  const platform = data?.platform ?? "";
  const isAtSona = credits?.asked_by_server === true;
  return (
    <>
      <h2>Recruiting</h2>
      <LoadStatus failure={failure} empty={data === null} />
      {isAtSona && <Credits run={run} rows={credits.credits} onDone={lookAgain} />}
      {data && credits && !isAtSona && !data.possible && data.recruitment === null && (
        <ChoosePlatform run={run} platforms={data.platforms} />
      )}
      {data?.possible && !data.connected && (
        <Unconnected title={platform} variable={data.token_variable ?? ""} />
      )}
      {data?.possible && data.connected && data.recruitment === null && (
        <DraftForm run={run} platform={platform} minutes={data.minutes} onDone={lookAgain} />
      )}
      {data?.recruitment && data.lost_at && (
        <p class="soft">
          {data.lost_events === 1 ? "1 event" : `${data.lost_events} events`} from {platform} did not reach
          this server (last noticed {ago(data.lost_at)}). No data are missing: the studies were read again. If
          this keeps happening, check that {platform} can reach this server.
        </p>
      )}
      {data?.recruitment && (
        <Recruitment run={run} found={data.recruitment} platform={platform} onDone={lookAgain} />
      )}
      {data && <PersonalLinks run={run} />}
    </>
  );
}

const STATES: Record<string, [name: string, kind: BadgeKind]> = {
  DRAFTING: ["Being drafted", "busy"],
  UNPUBLISHED: ["Draft", "plain"],
  SCHEDULED: ["Scheduled", "busy"],
  PUBLISHING: ["Being published", "busy"],
  ACTIVE: ["Active", "good"],
  PAUSED: ["Paused", "held"],
  "AWAITING REVIEW": ["Closed, awaiting review", "plain"],
  COMPLETED: ["Completed", "plain"],
};

interface Props {
  run: string;
  found: RecruitmentDetail;
  platform: string;
  onDone: () => void;
}

function Recruitment({ run, found, platform, onDone }: Props) {
  const cost = useCost(run, found);
  const at: At = (path, values = {}) =>
    apiAddress(`/api/desk/runs/{run}/recruitment/${path}`, { run, ...values });
  const [name, kind] = STATES[found.status] ?? [found.status.toLowerCase(), "plain"];
  const isDraft = found.status === "UNPUBLISHED";
  return (
    <>
      <section class="box recruiting-study" aria-label="Study">
        <div class="run-head">
          <h2>{isDraft ? "Review and publish" : `Study on ${platform}`}</h2>
          <Badge kind={kind}>{name}</Badge>
        </div>
        {found.status === "DRAFTING" ? (
          <p>
            {found.created_by} asked {platform} {ago(found.created_at)} to draft the study, and {platform} has
            not answered. If this does not change, discard the draft and create it again.
          </p>
        ) : (
          <p class="soft">
            {found.places} places, {amount(found.reward, found.currency)} each. Study{" "}
            <code>{found.study}</code>.{" "}
            {!isDraft && (found.read_at ? `Synced ${ago(found.read_at)}.` : "Not synced yet.")}
          </p>
        )}
        {found.fault && <p class="failure">{found.fault}</p>}
        {isDraft ? (
          <ReviewDraft found={found} platform={platform} cost={cost} at={at} onDone={onDone} />
        ) : (
          <>
            {found.status !== "DRAFTING" && <Totals found={found} cost={cost} platform={platform} />}
            <StudyControls found={found} platform={platform} at={at} onDone={onDone} />
          </>
        )}
      </section>
      {!isDraft && found.status !== "DRAFTING" && (
        <>
          <Differences
            rows={found.differences}
            submissions={found.submissions}
            synced={found.read_at !== null}
            platform={platform}
            at={at}
            onDone={onDone}
          />
          <Submissions
            rows={found.submissions}
            currency={found.currency}
            platform={platform}
            pays={found.pays_screen_outs}
            categories={found.rejection_categories}
            at={at}
            onDone={onDone}
          />
          <Bonuses
            rows={found.batches}
            currency={found.currency}
            platform={platform}
            at={at}
            onDone={onDone}
          />
        </>
      )}
    </>
  );
}
