import { useContext, useEffect, useState } from "preact/hooks";
import { apiAddress } from "../api";
import type { RecruitmentDetail } from "../api_types";
import { useFetched } from "../fetched";
import { ago } from "../format";
import { Link } from "../Link";
import { LoadStatus } from "../LoadStatus";
import { ResearcherContext } from "../researcher";
import { type At, amount } from "./amounts";
import { Bonuses } from "./Bonuses";
import { Credits } from "./Credits";
import { Differences } from "./Differences";
import { DraftForm } from "./DraftForm";
import { PersonalLinks } from "./PersonalLinks";
import { StudyControls } from "./StudyControls";
import { Submissions } from "./Submissions";
import "./recruiting.css";

const EVERY_MS = 5_000;

/** A run's study on the platform that its workers come from: published, read, paid. */
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
        <p>
          The study of this run names no platform. To recruit on {data.platforms.join(" or ")}, open the study
          under <Link to={{ page: "studies" }}>Studies</Link>, choose it at “Where workers come from”, and
          open a new run of it.
        </p>
      )}
      {data?.possible && !data.connected && (
        <p>
          This server has no access to {platform}. Start it with <code>{data.token_variable}</code>, a token
          of your workspace there.
        </p>
      )}
      {data?.possible && data.connected && data.recruitment === null && (
        <DraftForm run={run} platform={platform} minutes={data.minutes} onDone={lookAgain} />
      )}
      {data?.recruitment && data.lost_at && (
        <p class="soft">
          {data.lost_events === 1 ? "An event" : `${data.lost_events} events`} of {platform} did not arrive
          here (seen {ago(data.lost_at)}). Nothing is missing, as the studies were read anew. If it happens
          again, check that {platform} reaches this server.
        </p>
      )}
      {data?.recruitment && (
        <Recruitment run={run} found={data.recruitment} platform={platform} onDone={lookAgain} />
      )}
      {data && <PersonalLinks run={run} />}
    </>
  );
}

interface Props {
  run: string;
  found: RecruitmentDetail;
  platform: string;
  onDone: () => void;
}

function Recruitment({ run, found, platform, onDone }: Props) {
  const at: At = (path, values = {}) =>
    apiAddress(`/api/desk/runs/{run}/recruitment/${path}`, { run, ...values });
  return (
    <>
      {found.status === "DRAFTING" ? (
        <p>
          {platform} was asked {ago(found.created_at)} by {found.created_by} to draft the study, and has not
          answered. If it stays so, discard the draft, and make it anew.
        </p>
      ) : (
        <p>
          Study <code>{found.study}</code> is <b>{found.status.toLowerCase()}</b>: {found.places} places,{" "}
          {amount(found.reward, found.currency)} each.{" "}
          <span class="soft">{found.read_at ? `Read ${ago(found.read_at)}.` : "Not read yet."}</span>
        </p>
      )}
      {found.fault && <p class="failure">{found.fault}</p>}
      <StudyControls found={found} platform={platform} at={at} onDone={onDone} />
      <Differences
        rows={found.differences}
        submissions={found.submissions}
        platform={platform}
        at={at}
        onDone={onDone}
      />
      <Submissions rows={found.submissions} currency={found.currency} at={at} onDone={onDone} />
      <Bonuses rows={found.batches} currency={found.currency} platform={platform} at={at} onDone={onDone} />
    </>
  );
}
