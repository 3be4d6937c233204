import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { apiAddress } from "../api";
import { NumberField } from "../jobs/NumberField";
import { useRequest } from "../jobs/useRequest";
import { amount, centsOf, typedNumber } from "./amounts";
import { Account } from "./Cost";

interface Props {
  run: string;
  platform: string;
  minutes: number | null;
  onDone: () => void;
}

interface Plan {
  places: string;
  reward: string;
  minutes: string;
  screenOuts: string;
  screenOutReward: string;
}

const FIELDS: readonly { field: keyof Plan; label: string; hint: string; whole: boolean }[] = [
  { field: "places", label: "Places", hint: "How many participants can take part.", whole: true },
  {
    field: "reward",
    label: "Reward",
    hint: "For each participant, in your workspace’s currency, such as 4.50.",
    whole: false,
  },
  { field: "minutes", label: "Minutes", hint: "How long it takes.", whole: true },
  {
    field: "screenOuts",
    label: "Paid screen-out places",
    hint: "How many participants may be screened out. They are paid for coming.",
    whole: true,
  },
  {
    field: "screenOutReward",
    label: "Reward for a screen-out",
    hint: "In the same currency, such as 0.50.",
    whole: false,
  },
];

/** Asks for the plan of a study on the platform, says what it costs, and has it drafted. */
export function DraftForm({ run, platform, minutes, onDone }: Props) {
  const [plan, setPlan] = useState<Plan>({
    places: "",
    reward: "",
    minutes: minutes === null ? "" : String(minutes),
    screenOuts: "",
    screenOutReward: "",
  });
  const [tried, setTried] = useState(false);
  const { busy, failure, post } = useRequest();
  const wrong = (field: keyof Plan, whole: boolean) => wrongWith(plan[field], whole);
  const hourly = (centsOf(plan.reward) * 60) / typedNumber(plan.minutes);
  const submit = async (event: Event) => {
    event.preventDefault();
    setTried(true);
    if (FIELDS.some(({ field, whole }) => wrong(field, whole))) {
      const form = event.currentTarget as HTMLFormElement;
      requestAnimationFrame(() => form.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
      return;
    }
    if (busy) {
      return;
    }
    await post(apiAddress("/api/desk/runs/{run}/recruitment", { run }), {
      places: typedNumber(plan.places),
      reward: centsOf(plan.reward),
      minutes: typedNumber(plan.minutes),
      screen_out_reward: centsOf(plan.screenOutReward),
      screen_out_places: typedNumber(plan.screenOuts),
    });
    onDone();
  };
  return (
    <form class="box flow-form" onSubmit={(event) => void submit(event)}>
      <h2>Plan the study on {platform}</h2>
      <p class="soft">
        This creates a draft. Nobody sees it, and it costs nothing, until you publish it in the next step.
        Completion codes are made and entered for you.
      </p>
      <div class="recruiting-fields">
        {FIELDS.map(({ field, label, hint, whole }) => (
          <NumberField
            key={field}
            id={field}
            label={label}
            hint={hint}
            value={plan[field]}
            onValue={(value) => setPlan({ ...plan, [field]: value })}
            complaint={tried ? wrong(field, whole) : undefined}
          />
        ))}
      </div>
      <Account lines={estimated(plan, platform)} />
      <p class="soft" role="status">
        {hourly > 0 && Number.isFinite(hourly) && `Participants earn ${amount(hourly, null)} per hour.`}
      </p>
      <p class="complaint" role="alert">
        {failure}
      </p>
      <div class="actions">
        <Button type="submit" busy={busy}>
          Create draft
        </Button>
      </div>
    </form>
  );
}

/** What is wrong with a number of a plan; undefined where nothing is. */
export function wrongWith(text: string, whole: boolean): string | undefined {
  const number = typedNumber(text);
  if (!(number > 0)) {
    return whole ? "Enter a number, such as 20." : "Enter an amount, such as 4.50.";
  }
  return whole && !Number.isInteger(number) ? "Enter a whole number." : undefined;
}

/** The account of a plan as far as it is typed; the platform's fee is known with the draft. */
export function estimated(plan: Plan, platform: string): [string, string][] {
  const product = (count: string, each: string) => typedNumber(count) * centsOf(each);
  const times = (count: string, each: string) =>
    product(count, each) > 0
      ? `${typedNumber(count)} × ${amount(centsOf(each), null)} = ${amount(product(count, each), null)}`
      : "–";
  const sum = product(plan.places, plan.reward) + product(plan.screenOuts, plan.screenOutReward);
  return [
    ["Rewards", times(plan.places, plan.reward)],
    ["Screen-outs, at most", times(plan.screenOuts, plan.screenOutReward)],
    [`${platform}’s fee and tax`, "shown with the draft"],
    ["Total without fee", sum > 0 ? amount(sum, null) : "–"],
  ];
}
