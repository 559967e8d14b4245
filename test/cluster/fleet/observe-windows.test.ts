import { expect, test } from 'vitest';
import { type AskWindows, observeWindows } from '../../../src/cluster/fleet/observe-windows.ts';
import { watchedOn } from '../../../src/commands/every.phases.ts';
import { ConnectError, FactError, NoAnswer } from '../../../src/errors.ts';
import { decodePayload } from '../../../src/shell/powershell.ts';
import { cp1, inventoryOf } from '../../fakes/cluster.ts';
import { windowsHost } from '../../fakes/inventory.ts';
import { remoteOf } from '../../fakes/windows.ts';
import { freshMachine } from '../../windows/host/machine.ts';

const host = windowsHost('win1');
const { remote } = remoteOf(host, freshMachine('win1', '20348', host.internalAddress));
const silent = (): NoAnswer => new NoAnswer('win1', 'no answer within 60 s: observe', { retryable: false });

/** A host on which some probes never end, and what was asked of it: facts, and how long each question may take. */
function hanging(...facts: readonly string[]) {
  const questions: { readonly facts: readonly string[]; readonly withinMs: number | undefined }[] = [];
  const ask: AskWindows = (command, withinMs) => {
    const { Probes } = decodePayload(command.script).params as {
      readonly Probes: readonly { readonly fact: string }[];
    };
    const asked = Probes.map(({ fact }) => fact);
    questions.push({ facts: asked, withinMs });
    return asked.some((fact) => facts.includes(fact)) ? Promise.reject(silent()) : remote.run(command);
  };
  return { ask, questions };
}

const inventory = inventoryOf({ hosts: [cp1, host] });
const subject = { inventory, host, watched: watchedOn(inventory)(host) };
const observe = (ask: AskWindows, names?: readonly string[]) =>
  observeWindows(ask, subject, { nowMs: Date.now }, names);

test('a host that answers is asked once', async () => {
  const { ask, questions } = hanging();
  expect((await observe(ask)).machine.build).toBe('20348');
  expect(questions).toHaveLength(1);
});

test('a probe that hangs costs itself, and no other', async () => {
  const { ask, questions } = hanging('hns');
  const facts = await observe(ask, ['machine', 'hns', 'volume']);
  expect(facts.machine.build).toBe('20348');
  expect(facts.volume.fileSystem).toBe('NTFS');
  expect(() => facts.hns).toThrow(FactError);
  expect(() => facts.hns).toThrow('no answer within 60 s');
  expect(questions.map(({ facts: asked }) => asked.join())).toEqual(['machine,hns,volume', 'machine', 'hns', 'volume']);
  expect(questions[0]!.withinMs).toBeUndefined();
  expect(new Set(questions.slice(1).map(({ withinMs }) => withinMs))).toEqual(new Set([60_000]));
});

test('a host on which everything hangs is said to give no answer', async () => {
  await expect(observe(hanging('machine', 'hns').ask, ['machine', 'hns'])).rejects.toBeInstanceOf(NoAnswer);
});

test('a connection that is lost meanwhile is lost', async () => {
  const { ask } = hanging('hns');
  const lost = new ConnectError('win1', 'the connection was lost', { retryable: true });
  const then: AskWindows = (command, withinMs) => (withinMs === undefined ? ask(command) : Promise.reject(lost));
  await expect(observe(then, ['machine', 'hns'])).rejects.toBe(lost);
});

test.each(['nonsense', 'null', '{"administrator":1,"answers":{}}', '{"administrator":true,"answers":null}'])(
  'a host that answers %s cannot be observed',
  async (answer) => {
    const observation = observe(() => Promise.resolve(answer), ['machine']);
    await expect(observation).rejects.toThrow(ConnectError);
    await expect(observation).rejects.toThrow(/^win1: its answer is no observation: /);
  },
);
