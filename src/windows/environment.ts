import type { Step, Target } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
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

/** Variables that kbuild sets on the machine, by name. */
function wanted({ inventory, facts }: Target<'windows'>): ReadonlyMap<string, string> {
  const path = facts.environment.get('Path') ?? '';
  const has = FOLDERS.every((folder) => entries(path).some((entry) => entry.toLowerCase() === folder.toLowerCase()));
  return new Map([
    ['Path', has ? path : [...without(path), ...FOLDERS].join(';')],
    ['CRI_CONFIG_FILE', windowsPaths.crictlConfig],
    ...proxyEnvironment(inventory).map((line): [string, string] => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
  ]);
}

/** A login that exists already would not see it: the next command comes on a new connection. */
const setting =
  ({ host }: Target<'windows'>, variables: readonly (readonly [string, string | null])[]) =>
  async (on: On): Promise<void> => {
    const Variables = variables.map(([name, value]) => ({ name, value }));
    await on(host).run(powershell('windows/set-environment.ps1', { Variables }));
    on(host).renew();
  };

/** The machine's PATH has kbuild's programs, and its variables name the proxy. */
export const environment: Step<'windows'> = {
  name: 'environment',
  diff: (target) => {
    const due = [...wanted(target)].filter(([name, value]) => target.facts.environment.get(name) !== value);
    if (due.length === 0) return [];
    const names = due.map(([name]) => name).join(', ');
    return [{ summary: `set ${names} in the machine's environment`, apply: setting(target, due) }];
  },
};

/** Nothing in the machine's environment is kbuild's; a proxy of somebody else's stays. */
export const noEnvironment: Step<'windows'> = {
  name: 'no-environment',
  diff: (target) => {
    const path = pathOf(target);
    const kept = without(path);
    const ours = [...wanted(target)].filter(
      ([name, value]) => name !== 'Path' && target.facts.environment.get(name) === value,
    );
    const due: readonly (readonly [string, string | null])[] = [
      ...(kept.length === entries(path).length ? [] : [['Path', kept.join(';')] as const]),
      ...ours.map(([name]) => [name, null] as const),
    ];
    if (due.length === 0) return [];
    const names = due.map(([name]) => name).join(', ');
    return [
      { summary: `take kbuild's part out of the machine's environment (found ${names})`, apply: setting(target, due) },
    ];
  },
};
