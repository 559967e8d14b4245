/** `npm run docs:terminal`: draws the pictures in docs/terminal from the session that the lab has recorded. */
import { readFileSync, writeFileSync } from 'node:fs';
import { commandsOf, readCast, terminalSvg } from './terminal-recording.ts';

const folder = new URL('../../docs/terminal/', import.meta.url);

/** The session of docs/getting-started.md, which `test/lab/long/release.test.ts` records. */
export const SESSION = new URL('getting-started.cast', folder);

/** Pictures, each by the beginning of its command. */
const SHOTS: Readonly<Record<string, string>> = { check: 'kbuild check', plan: 'kbuild plan', nodes: 'KUBECONFIG=' };

/** Name → its content now. */
export async function shots(): Promise<ReadonlyMap<string, string>> {
  const recording = readCast(readFileSync(SESSION, 'utf8'));
  const commands = await commandsOf(recording);
  const drawn = Object.entries(SHOTS).map(async ([name, begins]) => {
    const shown = commands.filter(({ command }) => command.startsWith(begins));
    return [
      `${name}.svg`,
      await terminalSvg(shown, recording, shown.map(({ command }) => command).join('; ')),
    ] as const;
  });
  return new Map(await Promise.all(drawn));
}

export const shotFile = (name: string): URL => new URL(name, folder);

if (process.argv[1]?.endsWith('terminal-shots.ts') === true)
  for (const [name, text] of await shots()) writeFileSync(shotFile(name), text);
