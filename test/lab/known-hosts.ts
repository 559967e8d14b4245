import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from './flock.ts';
import { hostNames, hostSettings } from './host-settings.ts';
import { hostDir, paths } from './paths.ts';

/** Writes the known_hosts file of all hosts that exist, so that no run has to trust an unknown key. */
export async function writeKnownHosts(): Promise<void> {
  await withLock('known-hosts', async () => {
    const lines = hostNames().flatMap((name) => {
      const { address, internalAddress } = hostSettings(name);
      const who = [address, ...(internalAddress === undefined ? [] : [internalAddress]), name].join(',');
      return ['ed25519', 'ecdsa'].flatMap((type) => {
        const file = join(hostDir(name), 'keys', `ssh_host_${type}_key.pub`);
        if (!existsSync(file)) return [];
        return `${who} ${readFileSync(file, 'utf8').split(' ').slice(0, 2).join(' ')}\n`;
      });
    });
    await mkdir(paths.ssh, { recursive: true, mode: 0o700 });
    await writeFile(`${paths.knownHostsFile}.new`, lines.join(''));
    await rename(`${paths.knownHostsFile}.new`, paths.knownHostsFile);
  });
}
