/**
 * The power of the only control plane is cut at ten random moments of its upgrade, each a few seconds after it has booted or a run has
 * begun: kbuild goes on or ends with the reason, and the same command finishes the upgrade. All the while a client writes.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWriter } from '../api-writer.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { answering, cutPower, powerOn } from '../host-power.ts';
import { kbuild, start, type Running } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { random } from '../random.ts';
import { leftoversOf } from '../soak-run.ts';
import { leftOnNodes, versionsOf, nameFreshVersion } from '../upgraded.ts';
import { KUBERNETES } from '../versions.ts';

const HOSTS = ['upcp1', 'upw1'];
const [cp, worker] = HOSTS as [string, string];
const [OLD, NEW] = KUBERNETES;
const SEED = 4;
const CUTS = 10;
/** Between a boot, or the start of a run, and the next cut, in seconds. */
const [LEAST_S, MOST_S] = [5, 60];
let own: Fresh;

const wanted = (version: string): Promise<void> => nameFreshVersion(own, 'power', HOSTS, version);

beforeAll(async () => {
  own = await fresh('power', HOSTS);
  await wanted(OLD.version);
  ok(await kbuild(...own.up));
  await wanted(NEW.version);
});
afterAll(() => lab.down(HOSTS));

test('its power cut at ten random moments, the same command upgrades the cluster in the end, and nothing is lost', async () => {
  const [, ...operands] = own.up;
  const upgrade = ['upgrade', ...operands];
  const writer = startWriter(join(own.folder, 'admin.conf'));
  const next = random(SEED);
  /** How the runs ended between the cuts. */
  const codes: (number | null)[] = [];
  let running: Running;
  let hasEnded: boolean;
  const begin = (): void => {
    const begun = start(upgrade);
    [running, hasEnded] = [begun, false];
    void begun.ended.then(({ code }) => {
      hasEnded = true;
      codes.push(code);
    });
  };
  begin();
  for (let cut = 1; cut <= CUTS; cut++) {
    const seconds = LEAST_S + (MOST_S - LEAST_S) * next();
    await sleep(seconds * 1000);
    const last = running!.said().trimEnd().split('\n').at(-1) ?? '';
    await cutPower(cp);
    await powerOn(cp);
    await answering(cp);
    console.log(`cut ${String(cut)} after ${seconds.toFixed(1)} s, kbuild ${hasEnded! ? 'had ended' : 'ran'}: ${last}`);
    if (hasEnded!) begin();
  }
  // A host that does not answer, a step that failed, a wait that was too long: no refusal, and no bug.
  expect(codes.filter((code) => ![0, 3, 4, 5].includes(code ?? -1))).toEqual([]);
  let last = await running!.ended;
  for (let again = 0; last.code !== 0 && again < 2; again++) last = await kbuild(...upgrade);
  ok(last);
  const { acknowledged, lost } = await writer.stop();
  console.log(`${String(acknowledged)} writes acknowledged, ${String(lost.length)} lost`);
  expect(lost).toEqual([]);
});

test('then everything has the new version, and nothing is left', async () => {
  expect(await versionsOf(cp)).toMatchObject({
    ...{ kubelet: [`v${NEW.version}`], apiServer: [`v${NEW.version}`], etcd: [`${NEW.etcd}-0`] },
  });
  expect(await nodes(cp)).toEqual({ [cp]: true, [worker]: true });
  expect(await leftOnNodes(cp)).toEqual([]);
  const [, ...operands] = own.up;
  unchanged(await kbuild('upgrade', ...operands));
  unchanged(await kbuild(...own.up));
  expect(await leftoversOf(HOSTS)).toEqual([]);
});
