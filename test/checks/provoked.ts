/** Where the fault that a check finds was made on a real host, by check: the last table of docs/checks.md. */
export const provoked: Readonly<Record<string, string>> = {};
