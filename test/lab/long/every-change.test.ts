/** Every run is killed at the first change that it tells: the same command goes on from there, and nothing is left. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import { killedAtChanges } from '../killed-at-changes.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { leftoversOf } from '../soak-run.ts';
import { leftOnNodes, nameFreshVersion, versionsOf } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';

const HOSTS = ['eccp1', 'ecw1'];
const [cp, worker] = HOSTS as [string, string];
const [, NEW] = KUBERNETES;
let own: Fresh;

beforeAll(async () => {
  own = await fresh('every-change', HOSTS);
});

afterAll(() => lab.down(HOSTS));

test('killed at a change in every run, the same command builds the cluster in the end, and makes no change twice', async () => {
  const { last, kills, made } = await killedAtChanges(own.up);
  ok(last);
  expect(kills).toBeGreaterThan(10);
  expect(made).toEqual([...new Set(made)]);
  unchanged(await kbuild(...own.up));
  expect(await nodes(cp)).toEqual({ [cp]: true, [worker]: true });
  expect(await leftoversOf(HOSTS)).toEqual([]);
});

test('killed at a change in every run, the same command upgrades the cluster in the end, and makes no change twice', async () => {
  await nameFreshVersion(own, 'every-change', HOSTS, NEW.version);
  const [, ...operands] = own.up;
  const { last, kills, made } = await killedAtChanges(['upgrade', ...operands]);
  ok(last);
  expect(kills).toBeGreaterThan(15);
  expect(made).toEqual([...new Set(made)]);
  unchanged(await kbuild('upgrade', ...operands));
  unchanged(await kbuild(...own.up));
  expect(await versionsOf(cp)).toMatchObject({ kubelet: [`v${NEW.version}`], apiServer: [`v${NEW.version}`] });
  expect(await leftOnNodes(cp)).toEqual([]);
  expect(await leftoversOf(HOSTS)).toEqual([]);
});
