import { useContext, useState } from "preact/hooks";
import { apiAddress, Refused, send } from "../api";
import type { TrialView } from "../api_types";
import { ResearcherContext } from "../researcher";

/** A message to a bot on trial, and what came of it; both null while it is under way. */
export interface Round {
  said: string;
  answer: TrialView | null;
  /** Why the server did not ask the bot. */
  refusal: string | null;
}

/** How the bot is asked: in the place of a system, or without a persona and a prompt. */
export interface Role {
  system: string | null;
  scenario: string | null;
}

export interface Trial {
  rounds: Round[];
  busy: boolean;
  /** Say something; returns whether it was sent. Rounds without a reply are left out of the history. */
  say: (said: string, role: Role) => Promise<boolean>;
  restart: () => void;
}

/** Return whether the round is part of the conversation. */
export function isHeld(round: Round): boolean {
  return round.answer !== null && round.answer.text !== null;
}

/** A conversation with a bot of the study in `yaml`, as it stands. The server keeps nothing of it. */
export function useTrial(study: string, yaml: string, bot: string): Trial {
  const { token } = useContext(ResearcherContext);
  const [rounds, setRounds] = useState<Round[]>([]);
  const [seed, setSeed] = useState(newSeed);
  const [busy, setBusy] = useState(false);
  const say = async (said: string, { system, scenario }: Role): Promise<boolean> => {
    const held = rounds.filter(isHeld);
    const turns = held.flatMap(({ said: before, answer }) => [
      { author: "worker", text: before },
      { author: "bot", text: answer?.text ?? "" },
    ]);
    const body = {
      yaml,
      bot,
      system,
      scenario,
      seed,
      turns: [...turns, { author: "worker", text: said }],
      // Once is enough for a conversation: what an answer was got for was free, or confirmed.
      ...(rounds.some(({ answer }) => answer !== null) ? { confirmed: true } : {}),
    };
    const settle = (round: Partial<Round>) => setRounds([...rounds, { ...begun, ...round }]);
    const begun: Round = { said, answer: null, refusal: null };
    setBusy(true);
    setRounds([...rounds, begun]);
    try {
      const address = apiAddress("/api/desk/studies/{study}/trial", { study });
      settle({ answer: (await send("POST", address, body, token, "Send")) as TrialView });
      return true;
    } catch (error) {
      if (error instanceof Refused && error.message === "") {
        setRounds(rounds); // it was not meant
        return false;
      }
      settle({ refusal: error instanceof Error ? error.message : String(error) });
      return true;
    } finally {
      setBusy(false);
    }
  };
  const restart = () => {
    setRounds([]);
    setSeed(newSeed);
  };
  return { rounds, busy, say, restart };
}

/** A seed that the server draws the persona with: as large as a number can be without losing digits. */
function newSeed(): number {
  return Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
}

/** A cost in the currency of the bot's price: small ones with as many digits as they need. */
export function money(cost: number): string {
  return cost === 0 || cost >= 0.01 ? cost.toFixed(2) : cost.toPrecision(2);
}
