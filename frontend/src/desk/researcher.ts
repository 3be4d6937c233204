import { createContext } from "preact";

/** What a researcher's views need from the page around them. */
export interface Researcher {
  token: string;
  onUnauthorised: () => void;
  /** Look again at what this person may do: they own a study that they have just made. */
  renew: () => Promise<void>;
}

export const ResearcherContext = createContext<Researcher>({
  token: "",
  onUnauthorised: () => undefined,
  renew: async () => undefined,
});
