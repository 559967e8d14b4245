import type { Step, Target } from '../engine/step.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { windowsPaths } from '../paths.ts';
import type { Watches } from '../shell/watched.ts';
import type { On } from '../ssh/remote.ts';
import { powershell } from '../templates.ts';

/** Folders that kbuild adds to the machine's PATH. */
const FOLDERS: readonly string[] = [windowsPaths.programs, windowsPaths.containerd];

/** The proxy of the inventory as environment variables for services: `NAME=value` each. Empty without a proxy. */
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

/** The variable in which kbuild records the names of the variables that it set, to remove only those later. */
const OWNED = 'KBUILD_VARIABLES';

/** Every variable that kbuild may set. */
const watches: Watches = {
  variables: ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'Path', 'CRI_CONFIG_FILE', OWNED],
};

/** Variables that kbuild sets on the machine, by name. */
function desiredVariables(target: Target<'windows'>): ReadonlyMap<string, string> {
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

/** Sets the variables and reconnects: sshd passes new variables only to new connections. `null` removes a variable. */
const setVariables =
  ({ host }: Target<'windows'>, variables: readonly Variable[]) =>
  async (on: On): Promise<void> => {
    const Variables = variables.map(([name, value]) => ({ name, value }));
    await on(host).run(powershell('windows/set-environment.ps1', { Variables }));
    on(host).renew();
  };

type Variable = readonly [name: string, value: string | null];

/** Sets the machine's PATH and proxy variables. Removes variables that kbuild set for an earlier inventory. */
export const environment: Step<'windows'> = {
  name: 'environment',
  watches,
  diff: (target) => {
    const found = target.facts.environment;
    const all = desiredVariables(target);
    const pending = [...all].filter(([name, value]) => found.get(name) !== value);
    const ownedBefore = owned(target);
    const obsolete = ownedBefore.filter((name) => !all.has(name));
    // kbuild does not own a variable that had the desired value before. It owns entries of PATH, never PATH itself.
    const ownedAfter = [...all.keys()].filter(
      (name) => name !== 'Path' && (ownedBefore.includes(name) || pending.some(([changed]) => changed === name)),
    );
    const record: readonly Variable[] =
      ownedAfter.join(';') === ownedBefore.join(';') ? [] : [[OWNED, ownedAfter.join(';')]];
    const changed: readonly Variable[] = [
      ...pending,
      ...obsolete.filter((name) => found.has(name)).map((name): Variable => [name, null]),
      ...record,
    ];
    if (changed.length === 0) return [];
    const names = pending.map(([name]) => name).join(', ');
    const summary = [
      ...(names === '' ? [] : [`set ${names} in the machine's environment`]),
      ...(obsolete.length === 0
        ? []
        : [`take ${obsolete.join(', ')} out of the machine's environment (not in the inventory any more)`]),
      ...(names === '' && obsolete.length === 0 ? ["note which variables of the machine are kbuild's"] : []),
    ].join('; ');
    return [{ summary, apply: setVariables(target, changed) }];
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
    const ownedNames = [...owned(target), OWNED].filter((name) => found.has(name));
    const pending: readonly Variable[] = [
      ...(kept.length === entries(path).length ? [] : [['Path', kept.join(';')] as const]),
      ...ownedNames.map((name): Variable => [name, null]),
    ];
    if (pending.length === 0) return [];
    const names = pending.map(([name]) => name).join(', ');
    return [
      {
        summary: `take kbuild's part out of the machine's environment (found ${names})`,
        apply: setVariables(target, pending),
      },
    ];
  },
};
