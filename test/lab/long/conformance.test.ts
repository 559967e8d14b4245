/**
 * Upstream's conformance specifications on a cluster of 1 + 2 that kbuild built: those of the network first, then the others at once, then
 * those that must run alone. KBUILD_LAB_PLUGIN: flannel (unless told), calico or cilium. KBUILD_LAB_SPECIFICATIONS: a regular expression, those
 * alone. What cannot run here stands in LEFT_OUT, with the reason.
 */
import { stringify } from 'yaml';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  buildConformance,
  type Choice,
  chosenPlugin,
  clearHosts,
  LEFT_OUT,
  prepareHosts,
  runSpecifications,
  withConformance,
} from '../conformance.ts';
import { type Fresh, fresh } from '../fresh.ts';
import { kbuild } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { nodes } from '../pods.ts';
import { tableOf, type Verdict } from '../verdicts.ts';

const HOSTS = ['cfcp1', 'cfw1', 'cfw2'] as const;
const [cp, w1, w2] = HOSTS;
const PLUGIN = chosenPlugin();

const CONFORMANCE = String.raw`\[Conformance\]`;
const ALONE = String.raw`\[(Serial|Disruptive)\]`;
const SLOW = String.raw`\[Slow\]`;
const of = (...groups: readonly string[]): string => `\\[sig-(${groups.join('|')})\\].*${CONFORMANCE}`;

/** The suite alone takes a quarter of an hour to compile. */
const BUILD_MS = 7_200_000;

let own: Fresh;
const all: Verdict[] = [];

/** Runs them, one process for each choice, and expects that all pass that can run here. */
async function expectPassed(...choices: readonly Choice[]): Promise<void> {
  const ran = await Promise.all(
    choices.map(({ without, ...choice }) =>
      runSpecifications(own.folder, { ...choice, without: [...without, ...Object.keys(LEFT_OUT)] }),
    ),
  );
  const verdicts = ran.flat();
  all.push(...verdicts);
  console.log(tableOf(verdicts));
  for (const { name } of verdicts.filter(({ again }) => again)) console.log(`passed at the second attempt: ${name}`);
  expect(
    verdicts.flatMap(({ passed, name, message }) => (passed ? [] : [`${name}: ${message.slice(0, 500)}`])),
  ).toEqual([]);
}

beforeAll(async () => {
  await buildConformance(PLUGIN);
  own = await fresh('conformance', HOSTS);
  await prepareHosts(PLUGIN, HOSTS);
  const inventory = withConformance(PLUGIN, await lab.inventory(HOSTS));
  writeFileSync(own.file, stringify({ ...inventory, name: 'conformance' }, { aliasDuplicateObjects: false }));
  timed(`1 control plane and 2 workers with ${PLUGIN}`, ok(await kbuild(...own.up)));
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
}, BUILD_MS);

afterAll(async () => {
  console.log(`conformance with ${PLUGIN}\n${tableOf(all)}`);
  await lab.down(HOSTS);
  await clearHosts(PLUGIN, HOSTS);
});

/** A regular expression: the specifications with these words in their names run, and no other. */
const CHOSEN = process.env['KBUILD_LAB_SPECIFICATIONS'];

if (CHOSEN !== undefined)
  test(`the specifications that are named: ${CHOSEN}`, async () => {
    await expectPassed({ name: 'chosen', focus: `${CHOSEN}.*${CONFORMANCE}`, without: [] });
  });
else {
  test('the specifications of the network', async () => {
    await expectPassed({ name: 'network', focus: of('network'), without: [ALONE, SLOW] });
  });

  test('the others, four at a time', async () => {
    const without = [ALONE, SLOW];
    await expectPassed(
      { name: 'node', focus: of('node', 'instrumentation', 'architecture'), without },
      { name: 'storage', focus: of('storage', 'cli', 'auth'), without },
      { name: 'api', focus: of('api-machinery', 'apps', 'scheduling'), without },
      { name: 'slow', focus: `${SLOW}.*${CONFORMANCE}`, without: [ALONE] },
    );
  });

  test('those that must run alone', async () => {
    await expectPassed({ name: 'alone', focus: `${ALONE}.*${CONFORMANCE}`, without: [] });
  });
}

test('up has nothing to do afterwards', async () => {
  unchanged(await kbuild(...own.up));
});
