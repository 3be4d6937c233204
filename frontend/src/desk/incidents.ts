/** What incidents are called, by their kinds. */
const NAMES: Record<string, string> = {
  bot_error: "A try failed",
  bot_gave_up: "The bot gave up",
  replaced: "Replaced",
  gave_itself_away: "Said what it is",
  offensive_reply: "Offensive words of the bot",
  offensive_input: "Offensive words of the worker",
  flagged_reply: "The classifier flags the bot",
  flagged_input: "The classifier flags the worker",
  page_not_drawn: "The worker’s page could not show a part",
  page_translated: "The worker’s browser translated the page",
  ended_by_researcher: "Ended by a researcher",
  ended_by_partner: "Ended by the partner",
};

export function incidentName(kind: string): string {
  return NAMES[kind] ?? kind;
}
