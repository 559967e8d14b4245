import type { Step, Target } from '../engine/step.ts';
import type { Watches } from '../facts/watched.ts';
import type { Inventory } from '../model/inventory.ts';
import { windowsPaths } from '../paths.ts';
import type { On } from '../remote/remote.ts';
import { powershell } from '../templates.ts';

/** Folders of programs that are on the machine's PATH. */
const FOLDERS: readonly string[] = [windowsPaths.programs, windowsPaths.containerd];

/** The proxy as services see it: `NAME=value` each. */
export function proxyEnvironment({ proxy }: Inventory): readonly string[] {
  if (proxy === undefined) return [];
  const all = { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy.join(',') };
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
}

const entries = (path: string): readonly string[] => path.split(';').filter((entry) => entry !== '');
const without = (path: string): readonly string[] =>
  entries(path).filter(
    (entry) => !FOLDERS.some((folder) => folder.toLowerCase() === entry.replace(/\\$/, '').toLowerCase()),
  );
const pathOf = ({ facts }: Target<'windows'>): string => facts.environment.get('Path') ?? '';

/** Lists the variables that kbuild set itself, for the day when they are not wanted any more. */
const OWNED = 'KBUILD_VARIABLES';

/** Every variable that kbuild may set. */
const watches: Watches = {
  variables: ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'Path', 'CRI_CONFIG_FILE', OWNED],
};

/** Variables that kbuild sets on the machine, by name. */
function wanted(target: Target<'windows'>): ReadonlyMap<string, string> {
  const path = pathOf(target);
  const has = FOLDERS.every((folder) => entries(path).some((entry) => entry.toLowerCase() === folder.toLowerCase()));
  return new Map([
    ['Path', has ? path : [...without(path), ...FOLDERS].join(';')],
    ['CRI_CONFIG_FILE', windowsPaths.crictlConfig],
    ...proxyEnvironment(target.inventory).map((line): [string, string] => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  ]);
}

const owned = ({ facts }: Target<'windows'>): readonly string[] => entries(facts.environment.get(OWNED) ?? '');

/** A login that exists already would not see it: the next command comes on a new connection. */
const setting =
  ({ host }: Target<'windows'>, variables: readonly Variable[]) =>
  async (on: On): Promise<void> => {
    const Variables = variables.map(([name, value]) => ({ name, value }));
    await on(host).run(powershell('windows/set-environment.ps1', { Variables }));
    on(host).renew();
  };

type Variable = readonly [name: string, value: string | null];

/** The machine's PATH has kbuild's programs, and its variables name the proxy; one that the inventory no longer names goes. */
export const environment: Step<'windows'> = {
  name: 'environment',
  watches,
  diff: (target) => {
    const found = target.facts.environment;
    const all = wanted(target);
    const due = [...all].filter(([name, value]) => found.get(name) !== value);
    const before = owned(target);
    const gone = before.filter((name) => !all.has(name));
    // A variable that had this value before kbuild set any is not kbuild's. PATH is told by its entries.
    const ours = [...all.keys()].filter(
      (name) => name !== 'Path' && (before.includes(name) || due.some(([one]) => one === name)),
    );
    const note: readonly Variable[] = ours.join(';') === before.join(';') ? [] : [[OWNED, ours.join(';')]];
    const changed: readonly Variable[] = [
      ...due,
      ...gone.filter((name) => found.has(name)).map((name): Variable => [name, null]),
      ...note,
    ];
    if (changed.length === 0) return [];
    const names = due.map(([name]) => name).join(', ');
    const summary = [
      ...(names === '' ? [] : [`set ${names} in the machine's environment`]),
      ...(gone.length === 0
        ? []
        : [`take ${gone.join(', ')} out of the machine's environment (not in the inventory any more)`]),
      ...(names === '' && gone.length === 0 ? ["note which variables of the machine are kbuild's"] : []),
    ].join('; ');
    return [{ summary, apply: setting(target, changed) }];
  },
};

/** Removes the environment variables that kbuild set. Keeps proxy settings that kbuild did not set. */
export const noEnvironment: Step<'windows'> = {
  name: 'no-environment',
  watches,
  diff: (target) => {
    const path = pathOf(target);
    const kept = without(path);
    const found = target.facts.environment;
    const ours = [...owned(target), OWNED].filter((name) => found.has(name));
    const due: readonly Variable[] = [
      ...(kept.length === entries(path).length ? [] : [['Path', kept.join(';')] as const]),
      ...ours.map((name): Variable => [name, null]),
    ];
    if (due.length === 0) return [];
    const names = due.map(([name]) => name).join(', ');
    return [
      { summary: `take kbuild's part out of the machine's environment (found ${names})`, apply: setting(target, due) },
    ];
  },
};
