import * as z from 'zod';
import { listOf, number, text, texts, waitingChange } from './fields.ts';

const phase = text('The phase.');
const host = text('The host.');
const step = text('The step.');
const summary = text('What it is about, in one line.');
const durationMs = number('How long it took, in ms.');
const message = text('Why.');
const place = { phase, host, step };

const event = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, description: string, shape: Shape) =>
  z
    .object({
      schemaVersion: z.literal(1).meta({ description: 'Raised when a field changes its meaning or goes away.' }),
      kind: z.literal(kind).meta({ description: 'What happened.' }),
      time: text('When it happened: ISO 8601.'),
      ...shape,
    })
    .meta({ description });

/** One line of `up --json` and other commands that change hosts. New kinds can be added: ignore those that you do not know. */
export const eventLine = z
  .discriminatedUnion('kind', [
    event('connecting', 'The run connects.', { hosts: texts('To these hosts.') }),
    event('unreachable', 'A host does not answer.', { host, message }),
    event('left-out', 'The run leaves a host out; the others go on.', { host, message }),
    event('observed', 'All hosts were observed.', { hosts: number('How many.'), durationMs }),
    event('locked', 'The run holds the locks.', { hosts: number('Of how many hosts.') }),
    event('phase-started', 'A phase began.', { phase, title: text('For people.'), hosts: texts('Its hosts.') }),
    event('host-started', 'A host began its part of a phase.', { phase, host }),
    event('changing', 'A change begins.', { ...place, summary }),
    event('changed', 'A change was made.', { ...place, summary, durationMs }),
    event('unplanned', 'A change was made that was not in the confirmed plan.', { ...place, summary }),
    event('settling', 'A step waits; sent again every 10 s.', {
      ...place,
      summary,
      waitedMs: number('How long it has waited, in ms.'),
    }),
    event('job-followed', 'The run waits for a job of another run.', { host, summary }),
    event('job-waits', 'A job of this run waits for something.', { host, summary }),
    event('job-loads', 'A job of this run downloads; sent every 5 s while the number grows.', {
      host,
      bytes: number('Since the job is followed.'),
      bytesPerSecond: number('Since the event before.'),
    }),
    event('noted', 'Something to know later, e.g. where data was kept.', { host, summary }),
    event('failed', 'A host failed.', {
      ...place,
      summary,
      exitCode: number('The exit code that the failure calls for.'),
    }),
    event('host-done', 'A host ended its part of a phase.', { phase, host, changes: number('How many.'), durationMs }),
    event('phase-done', 'A phase ended.', { phase, changes: number('How many.'), durationMs }),
    event('waits-for-hosts', 'The run left hosts out.', {
      hosts: texts('These.'),
      changes: listOf(waitingChange, 'Changes that wait for them.'),
    }),
    event('interrupted', 'The run was interrupted.', { summary }),
    event('done', 'The run ended.', {
      changes: number('How many.'),
      failed: texts('Hosts that failed.'),
      durationMs,
    }),
  ])
  .meta({ description: 'One line of `--json` of the commands that change hosts.' });
