import { lastLine } from '../../shell/probe.ts';

/**
 * Why an API server is not ready, in one line: the checks that it names as failed, or the last line of what was printed
 * instead. kubectl prints the 35 checks of /readyz, quoted in one line or each on its own.
 */
export function unready(text: string): string {
  const failed = [...text.matchAll(/\[-\]([\w/.-]+) failed/g)].map(([, check]) => check!);
  if (failed.length > 0) return `${[...new Set(failed)].join(', ')} failed`;
  return lastLine(text);
}
