import type { Mirrors } from './recipes.ts';
import { run } from './run.ts';

/**
 * Debian's mirrors as this machine's apt has them, so that what works for it works for the lab.
 * `KBUILD_LAB_DEBIAN` names another one; its security archive is then not used.
 */
export async function mirrors(): Promise<Mirrors> {
  const given = process.env['KBUILD_LAB_DEBIAN'];
  if (given !== undefined) return { debian: given, security: '' };
  const targets = await run('apt-get', ['indextargets', '--format', '$(ORIGIN) $(CODENAME) $(REPO_URI)']);
  const find = (codename: string): string | undefined =>
    targets
      .split('\n')
      .map((line) => line.split(' '))
      .find(([origin, name]) => origin === 'Debian' && name === codename)?.[2];
  return { debian: find('bookworm') ?? 'http://deb.debian.org/debian/', security: find('bookworm-security') ?? '' };
}
