import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile } from 'node:fs/promises';
import { withLock } from './flock.ts';
import { paths } from './paths.ts';
import { run } from './run.ts';

/** Whose packages a key signs. Each publisher has its own, as outside. */
export const PUBLISHERS = ['debian', 'kubernetes', 'containerd', 'containerd-rpm', 'rpm', 'crio'] as const;
export type Publisher = (typeof PUBLISHERS)[number];

/** Fingerprints of the publishers' keys, 40 hexadecimal digits, and the SSH public key that hosts accept. */
export type Keys = Readonly<Record<Publisher | 'identity', string>>;

const gpg = (...args: readonly string[]): Promise<string> =>
  run('gpg', ['--homedir', paths.gnupg, '--batch', '--pinentry-mode', 'loopback', '--passphrase', '', ...args]);

const userId = (publisher: Publisher): string => `kbuild lab ${publisher} <${publisher}@lab.invalid>`;

/** Makes the SSH key and the signing keys that are missing, and returns what is public of them. They outlive `down`. */
export async function ensureKeys(): Promise<Keys> {
  return withLock('keys', async () => {
    await mkdir(paths.ssh, { recursive: true, mode: 0o700 });
    if (!existsSync(`${paths.identityFile}.pub`)) {
      await run('rm', ['-f', paths.identityFile]);
      await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'kbuild-lab', '-f', paths.identityFile]);
    }
    await mkdir(paths.gnupg, { recursive: true });
    await chmod(paths.gnupg, 0o700);
    const found: Record<string, string> = { identity: (await readFile(`${paths.identityFile}.pub`, 'utf8')).trim() };
    for (const publisher of PUBLISHERS) {
      found[publisher] = (await fingerprint(publisher)) ?? (await generate(publisher));
    }
    await run('gpgconf', ['--homedir', paths.gnupg, '--kill', 'all']); // its agent would stay for ever
    return found as Keys;
  });
}

async function fingerprint(publisher: Publisher): Promise<string | undefined> {
  const keys = await gpg('--list-keys', '--with-colons');
  const ids = keys.split('\npub:').find((block) => block.includes(userId(publisher)));
  return /^fpr:+([0-9A-F]{40}):/m.exec(ids ?? '')?.[1];
}

async function generate(publisher: Publisher): Promise<string> {
  await gpg('--quick-generate-key', userId(publisher), 'rsa3072', 'sign', 'never');
  return (await fingerprint(publisher))!;
}
