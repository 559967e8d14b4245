import { stringify } from 'smol-toml';
import type { Change, Step, Target } from '../engine/step.ts';
import type { RegistrySettings } from '../inventory/inventory.ts';
import { paths } from '../paths.ts';
import { fileChanges, OURS, type WantedFile } from '../resources/file.ts';
import { runs } from '../resources/runs.ts';
import { madeOf, type Secret } from '../shell/secret.ts';
import { script } from '../templates.ts';

/** Docker Hub's API is at another name than its images'. */
const serverOf = (host: string): string => (host === 'docker.io' ? 'https://registry-1.docker.io' : `https://${host}`);

/** Where containerd looks for the settings of a registry. */
const folder = (host: string): string => `${paths.certsD}/${host}`;

function hostsToml({ host, mirrors, ca }: RegistrySettings, authorization?: string): string {
  const trust = ca === undefined ? {} : { ca: `${folder(host)}/ca.crt` };
  const login = authorization === undefined ? {} : { header: { authorization: [authorization] } };
  const server = host === '_default' ? {} : { server: serverOf(host) };
  // Settings beside `server` are about the registry itself; without mirrors it gets the login too.
  const itself = host === '_default' ? {} : { ...trust, ...(mirrors.length === 0 ? login : {}) };
  const table = Object.fromEntries(
    mirrors.map((url) => [url, { capabilities: ['pull', 'resolve'], ...trust, ...login }] as const),
  );
  return `${OURS}.\n${stringify({ ...server, ...itself, ...(mirrors.length === 0 ? {} : { host: table }) })}`;
}

/** What the inventory's login to a registry says in the header `Authorization`; undefined where it has none. */
export const loginOf = ({ username, password }: RegistrySettings): Secret | undefined =>
  username === undefined || password === undefined
    ? undefined
    : madeOf(password, (value) => `Basic ${Buffer.from(`${username}:${value}`).toString('base64')}`);

function content(registry: RegistrySettings): string | Secret {
  const login = loginOf(registry);
  return login === undefined ? hostsToml(registry) : madeOf(login, (value) => hostsToml(registry, value));
}

function wantedFiles(registries: readonly RegistrySettings[]): readonly WantedFile[] {
  return registries.flatMap((one) => [
    ...(one.ca === undefined ? [] : [{ path: `${folder(one.host)}/ca.crt`, content: one.ca }]),
    { path: `${folder(one.host)}/hosts.toml`, content: content(one) },
  ]);
}

/** Files of the folder that no registry of the inventory has: kbuild owns it whole. */
function strangers({ facts, host }: Target, wanted: readonly WantedFile[]): readonly Change[] {
  const kept = new Set(wanted.map(({ path }) => path));
  return [...facts.files]
    .filter(([path, { kind }]) => kind === 'file' && path.startsWith(`${paths.certsD}/`) && !kept.has(path))
    .map(([path]) => ({
      summary: `remove ${path} (no registry of the inventory has it)`,
      apply: runs(host, script('linux/remove-from-folder.sh', { FILE: path, FOLDER: paths.certsD })),
    }));
}

/** How containerd reaches registries: mirrors, private CAs, logins. containerd reads these files at every pull. */
export const registries: Step = {
  name: 'registries',
  diff: (target) => {
    const wanted = wantedFiles(target.inventory.runtime.registries);
    return [...wanted.flatMap((one) => fileChanges(target, one)), ...strangers(target, wanted)];
  },
};
