import type { Change, Step, Target } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { PackageRepository } from '../inventory/inventory.ts';
import { osOf } from '../os/index.ts';
import type { On } from '../remote/remote.ts';
import { armoured, keyFingerprints } from '../shell/openpgp.ts';
import { file, OURS } from './file.ts';

/** An apt repository and where its files go. */
export interface AptRepository {
  readonly repository: (target: Target) => PackageRepository;
  /** Path of the key file, ending in `.asc`. */
  readonly keyring: string;
  /** Path of the file in sources.list.d. */
  readonly source: string;
}

/** `{distribution}` and `{codename}` of a URL or suite, from what the host is. */
const placed = (text: string, { facts: { osRelease } }: Target): string =>
  text.replaceAll('{distribution}', osRelease.id).replaceAll('{codename}', osRelease.codename);

/** The `deb` line of a repository; a flat one has no suite. */
function sourceLine(target: Target, { url, suite, component }: PackageRepository, keyring: string): string {
  const place = suite === undefined ? '/' : [placed(suite, target), component ?? 'main'].join(' ');
  return `deb [signed-by=${keyring}] ${placed(url, target)} ${place}\n`;
}

async function keyFile(on: On, target: Target, { key }: PackageRepository): Promise<Buffer> {
  if ('content' in key) return Buffer.from(key.content, 'latin1');
  const { host, facts } = target;
  return Buffer.from(await on(host).run(osOf(host, facts).fetch(placed(key.url, target))), 'base64');
}

/** apt would trust every key of the file, so all of them must be the pinned one. */
function pinned(subject: string, key: Buffer, fingerprint: string): Buffer {
  let found: readonly string[];
  try {
    found = keyFingerprints(key);
  } catch (error) {
    throw new Refused(subject, `the repository's signing key cannot be read: ${(error as Error).message}`);
  }
  if (found.length > 0 && found.every((one) => one === fingerprint)) return key;
  const said = found.length === 0 ? 'holds no key' : `is ${found.join(', ')}`;
  throw new Refused(
    subject,
    `the repository's signing key ${said}, and the inventory pins ${fingerprint}`,
    'compare the fingerprint with the one that the vendor publishes, then correct repository.key or repository.fingerprint',
  );
}

function keyChanges(target: Target, options: AptRepository): readonly Change[] {
  const { host, facts } = target;
  const { keyring } = options;
  const repository = options.repository(target);
  const found = facts.keyrings.get(keyring);
  if (found !== undefined && found.length > 0 && found.every((one) => one === repository.fingerprint)) return [];
  const state = found === undefined ? 'none' : found.length === 0 ? 'no key in it' : found.join(', ');
  return [
    {
      summary: `write ${keyring} with the key ${repository.fingerprint} (found ${state})`,
      apply: async (on) => {
        const key = pinned(host.name, await keyFile(on, target, repository), repository.fingerprint);
        await on(host).write(keyring, armoured(key), 0o644);
      },
    },
  ];
}

/** A repository of packages with its pinned signing key: two steps, the key first. */
export const aptRepository = (name: string, options: AptRepository): readonly Step[] => [
  { name: `${name}-key`, diff: (target) => keyChanges(target, options) },
  file(`${name}-source`, {
    path: options.source,
    content: (target) => `${OURS}.\n${sourceLine(target, options.repository(target), options.keyring)}`,
  }),
];
