import { describe, expect, test } from 'vitest';
import { linuxProbes } from '../../../src/cluster/fleet/linux.ts';
import { linuxHosts } from '../../../src/inventory/hosts.ts';
import { CONTAINER_RUNTIMES } from '../../../src/runtime/runtimes.value.ts';
import type { Command } from '../../../src/shell/command.ts';
import { watched } from '../../fakes/facts.ts';
import { inventory } from '../../fakes/inventory.ts';

/** All probes of hosts with each runtime, by fact. */
const commands = CONTAINER_RUNTIMES.flatMap(({ name }) => {
  const inv = inventory({ runtime: { ...inventory().runtime, name } });
  const [host] = linuxHosts(inv);
  return Object.entries(linuxProbes(inv, host!, watched(inv)(host!)) as Record<string, { command: Command<'sh'> }>).map(
    ([fact, { command }]) => ({ ...command, title: `${fact} (${name})` }),
  );
});

/** Without comments, sums, and what another program reads: texts in single quotes. */
const codeOf = (script: string): string =>
  script
    .replaceAll(/^\s*#.*$/gm, '')
    .replaceAll(/'[^']*'/g, "''")
    .replaceAll(/\$\(\(.*?\)\)/g, '0');

/** Variables that are read with a default, and that the script itself sets before, but for what systemctl and nft said. */
const WITH_DEFAULT: ReadonlySet<string> = new Set(['active_states', 'nft_status', 'real', 'rest', 'shared']);

test('a host answers all probes in one shell', () =>
  expect(commands.filter(({ inPlace }) => inPlace !== true).map(({ title }) => title)).toEqual([]));

describe.each(commands)('the probe of $title', ({ script }) => {
  const code = codeOf(script);
  const word = (names: string): RegExp => new RegExp(`(?:^|[;&|({]|\\b(?:then|else|do|if)\\b)\\s*(?:${names})\\b`, 'm');

  test('changes nothing of the shell but variables, functions, IFS and set -f', () => {
    expect(code).not.toMatch(word('cd|exec|export|trap|umask|unset|readonly|alias|ulimit|shopt'));
    expect(code).not.toMatch(/\bset [-+](?!f\b|-)/);
    expect(code).not.toMatch(/\bbatch_(?!now\b)/);
  });

  test('leaves nothing running', () => {
    const starts = /[^&>]&\s*(?:$|[^&\d>])/m.test(code);
    expect(/^ *wait$/m.test(code)).toBe(starts);
  });

  test('reads no variable that another probe may have set', () =>
    expect(
      [...code.matchAll(/\$\{([a-z]\w*):?[-+=?]/gi)].map(([, name]) => name!).filter((name) => !WITH_DEFAULT.has(name)),
    ).toEqual([]));
});
