import { expect, test } from 'vitest';
import { observeLinux } from '../../../src/cluster/fleet/observe-linux.ts';
import { watchedOn } from '../../../src/commands/every.phases.ts';
import { cp1, inventoryOf } from '../../fakes/cluster.ts';

const inventory = inventoryOf({ hosts: [cp1] });
const subject = { inventory, host: cp1, watched: watchedOn(inventory)(cp1) };
const NOON = Date.UTC(2026, 10, 26, 12);
const frame = (name: string, text: string): string => `word:begin:${name}\n${text}\nword:end:${name}:0\n`;

/** The offset that kbuild finds. Times are seconds since noon: the host's clock at the first and the last probe; kbuild's when it asks and gets the answer. */
async function offset(
  host: readonly [number, number | undefined],
  kbuild: readonly [number, number],
  shellSeconds?: number,
): Promise<number> {
  const [first, last] = host;
  const stdout =
    (shellSeconds === undefined ? '' : frame('login', `${String(1000 + shellSeconds)} 100000`)) +
    frame('clockOffsetMs', `${String(NOON / 1000 + first)}.000000000`) +
    (last === undefined ? '' : frame('nowMs', String(NOON + last * 1000)));
  const times = [...kbuild];
  const tools = { nowMs: () => NOON + times.shift()! * 1000, nonce: () => 'word' };
  const result = { stdout, stderr: '', exit: { kind: 'code', code: 0 } };
  const ask = () => Promise.resolve(result as never);
  return (await observeLinux(ask, subject, tools, ['login', 'clockOffsetMs', 'nowMs'])).clockOffsetMs;
}

test('the clock of a host whose probes take minutes is not off for that, whatever the time that they take', async () => {
  // Seen on an emulated host: 167 s, of which the clock was read in the first seconds.
  expect(await offset([6, 165], [0, 167])).toBe(2000);
  expect(await offset([1, 1.2], [0, 2])).toBeCloseTo(100, -1);
});

test('a clock that is wrong is found on such a host, too', async () => {
  expect(await offset([606, 765], [0, 167])).toBe(602_000);
  expect(await offset([-594, -435], [0, 167])).toBe(-598_000);
});

test('a host that does not say how long its probes took, or whose clock was set meanwhile, has read it in the middle', async () => {
  expect(await offset([6, undefined], [0, 20])).toBe(-4000);
  expect(await offset([6, 2], [0, 20])).toBe(-4000);
  // Set forward by an hour between both probes: no more than the whole time can have passed.
  expect(await offset([6, 3606], [0, 20])).toBe(6000);
});

test('the clock of an account whose login shell takes a minute is not off for that', async () => {
  expect(await offset([61, 63], [0, 64], 61)).toBe(-500);
  expect(await offset([661, 663], [0, 64], 61)).toBe(599_500);
  // A shell that claims to have taken longer than the whole answer tells nothing.
  expect(await offset([1, 2], [0, 3], 500)).toBe(-2000);
});

test('facts that are left out cost nothing, and reading one says that it was not observed', async () => {
  const scripts: string[] = [];
  const ask = ({ script }: { readonly script: string }) => {
    scripts.push(script);
    return Promise.resolve({ stdout: frame('hostname', 'cp1'), stderr: '' } as never);
  };
  const tools = { nowMs: () => NOON, nonce: () => 'word' };
  const facts = await observeLinux(ask, subject, tools, { without: ['firewall'] });
  expect(scripts[0]).not.toContain('nft list chain $table');
  expect(scripts[0]).toContain('iptables-save');
  expect(facts.hostname).toBe('cp1');
  expect(() => facts.firewall).toThrow('it was not observed');
});
