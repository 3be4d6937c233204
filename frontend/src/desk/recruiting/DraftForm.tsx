import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { apiAddress } from "../api";
import { NumberField } from "../jobs/NumberField";
import { useRequest } from "../jobs/useRequest";
import { centsOf, typedNumber } from "./amounts";

interface Props {
  run: string;
  platform: string;
  minutes: number | null;
  onDone: () => void;
}

/** Asks for what a study on the platform needs, and has it drafted. */
export function DraftForm({ run, platform, minutes, onDone }: Props) {
  const [places, setPlaces] = useState("");
  const [reward, setReward] = useState("");
  const [lasts, setLasts] = useState(minutes === null ? "" : String(minutes));
  const [screenedOut, setScreenedOut] = useState("");
  const [consolation, setConsolation] = useState("");
  const [missing, setMissing] = useState(false);
  const { busy, failure, post } = useRequest();
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = [places, reward, lasts, screenedOut, consolation].map(typedNumber);
    if (
      busy ||
      given.some((number) => !Number.isFinite(number) || number < 0) ||
      !places ||
      !reward ||
      !lasts
    ) {
      setMissing(true);
      return;
    }
    setMissing(false);
    await post(apiAddress("/api/desk/runs/{run}/recruitment", { run }), {
      places: typedNumber(places),
      reward: centsOf(reward),
      minutes: typedNumber(lasts),
      screen_out_reward: centsOf(consolation),
      screen_out_places: typedNumber(screenedOut),
    });
    onDone();
  };
  return (
    <form class="box flow-form recruiting-form" onSubmit={(event) => void submit(event)}>
      <h2>Draft a study on {platform}</h2>
      <p class="soft">Nobody sees it, and it costs nothing, before you publish it.</p>
      <NumberField
        id="places"
        label="Places"
        hint="How many can take part."
        value={places}
        onValue={setPlaces}
      />
      <NumberField
        id="reward"
        label="Reward"
        hint="For one participant, in your workspace’s currency: 4.50."
        value={reward}
        onValue={setReward}
      />
      <NumberField id="minutes" label="Minutes" hint="How long it takes." value={lasts} onValue={setLasts} />
      <NumberField
        id="screened-out"
        label="Paid screen-out places"
        hint="How many may be screened out and paid for coming. Without any, the study is not published."
        value={screenedOut}
        onValue={setScreenedOut}
      />
      <NumberField
        id="consolation"
        label="Reward of who is screened out"
        hint="In the same currency: 0.50."
        value={consolation}
        onValue={setConsolation}
      />
      <p class="complaint" role="alert">
        {missing ? "Places, reward and minutes are numbers, and needed." : failure}
      </p>
      <div class="actions">
        <Button type="submit" busy={busy}>
          Draft the study
        </Button>
      </div>
    </form>
  );
}
